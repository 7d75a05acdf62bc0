// A small Redis client: one connection per call.
import { connect } from 'node:net';

// [reply, offset after it], or null when more bytes are needed. Errors of the server are Error objects.
function parse(bytes, at) {
  const end = bytes.indexOf('\r\n', at);
  if (end < 0) return null;
  const head = bytes.toString('utf8', at + 1, end);
  const next = end + 2;
  switch (String.fromCharCode(bytes[at])) {
    case '+': return [head, next];
    case '-': return [new Error(head), next];
    case ':': return [Number(head), next];
    case '$': {
      const length = Number(head);
      if (length < 0) return [null, next];
      return bytes.length < next + length + 2 ? null : [bytes.toString('utf8', next, next + length), next + length + 2];
    }
    case '*': {
      const list = [];
      for (let i = 0, from = next; i <= Number(head); i++) {
        if (i === Number(head)) return [list, from];
        const item = parse(bytes, from);
        if (!item) return null;
        list.push(item[0]);
        from = item[1];
      }
      return [null, next]; // length -1
    }
    default: throw new Error(`not a Redis reply: ${head}`);
  }
}

export function encode(args) {
  const parts = [Buffer.from(`*${args.length}\r\n`)];
  for (const arg of args) {
    const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

// The replies to a list of commands, sent together over a new connection. Rejects when the server is unreachable or does
// not answer in time; the error reply of a command is an Error in the list.
export function redis(path, commands, timeoutMs = 5000) {
  return new Promise((resolve, reject) => {
    const replies = [];
    let bytes = Buffer.alloc(0);
    const socket = connect(path, () => socket.write(Buffer.concat(commands.map(encode))));
    const timer = setTimeout(() => socket.destroy(new Error('redis: no answer in time')), timeoutMs);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let got; bytes.length > 0 && (got = parse(bytes, 0)); bytes = bytes.subarray(got[1])) replies.push(got[0]);
      if (replies.length === commands.length) socket.end();
    });
    socket.on('error', (error) => { clearTimeout(timer); reject(error); });
    socket.on('close', () => {
      clearTimeout(timer);
      if (replies.length === commands.length) resolve(replies);
      else reject(new Error('redis: the connection broke'));
    });
  });
}
