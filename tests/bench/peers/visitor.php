<?php
// What the programs in PHP have in common: answers, the cross-origin guard, ids, and the session from Redis, over one
// persistent connection per worker. It connects as Redis's default user, for whom Redis checks no rights: that is less
// work than the site does.

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const SESSION_IDLE_MS = 604800_000;
const SESSION_ABSOLUTE_MS = 2592000_000;
const PROBLEMS = [1 => [404, 'not-found'], 4 => [403, 'not-for-you'], 5 => [410, 'empty'], 6 => [410, 'expired'],
    7 => [503, 'busy']];

function answer(int $status, string $body, string $type = 'application/json'): void
{
    http_response_code($status);
    header("Content-Type: $type");
    header('Cache-Control: no-store');
    header('Vary: Accept, Accept-Language, Cookie');
    header('Content-Length: ' . strlen($body));
    echo $body;
}

function problem(int $status, string $name): void
{
    $body = ['type' => "urn:hongbao:problem:$name", 'status' => $status];
    answer($status, json_encode($body, JSON_UNESCAPED_SLASHES) . "\n");
}

function same_origin(): bool
{
    $site = $_SERVER['HTTP_SEC_FETCH_SITE'] ?? '';
    if ($site !== '') {
        return $site === 'same-origin' || $site === 'none';
    }
    $origin = $_SERVER['HTTP_ORIGIN'] ?? '';
    if ($origin === '') {
        return true;
    }
    $at = strpos($origin, '://');
    return $at !== false && strcasecmp(substr($origin, $at + 3), $_SERVER['HTTP_HOST'] ?? '') === 0;
}

// The first half of 128 bits in base 32, after two zero bits.
function packet_id(string $text): ?int
{
    $id = 0;
    for ($i = 0; $i < 14; $i++) {
        $value = strpos(DIGITS, strtolower($text[$i]));
        if ($value === false) {
            return null;
        }
        $id = $i < 13 ? $id << 5 | $value : $id << 1 | $value >> 4;
    }
    return $id;
}

// [user id, nickname] of a valid session.
function session_read(string|false $value): ?array
{
    if ($value === false || !preg_match('/^v2,(\d+),(\d+),(\d+),([^,]+),(.+)$/su', $value, $m)) {
        return null;
    }
    $now_ms = (int)(microtime(true) * 1000);
    if ($now_ms - (int)$m[2] >= SESSION_ABSOLUTE_MS || $now_ms - (int)$m[3] >= SESSION_IDLE_MS) {
        return null;
    }
    return [$m[1], $m[5]];
}

function redis(): Redis
{
    $redis = new Redis();
    $redis->pconnect(getenv('BENCH_REDIS_SOCKET'));
    return $redis;
}

// [user id, nickname] of the visitor, or null without a session.
function visitor(Redis $redis): ?array
{
    $token = $_COOKIE['sid'] ?? '';
    if (!preg_match('/^[A-Za-z0-9_-]{43}$/D', $token)) {
        return null;
    }
    return session_read($redis->get('hb:session:' . hash('sha256', $token)));
}

// result: [code, share_no, fen, left], the last ones only with a share.
function answer_grab(mixed $result): void
{
    $code = is_array($result) ? $result[0] : 0;
    if ($code === 2 || $code === 3) {
        answer(200, json_encode(['result' => $code === 2 ? 'grabbed' : 'already', 'share_no' => $result[1],
            'amount_fen' => $result[2], 'left_count' => $result[3]]) . "\n");
    } else {
        problem(...(PROBLEMS[$code] ?? [503, 'unknown']));
    }
}
