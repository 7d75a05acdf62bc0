<?php
// POST /p/ID/open in php-fpm with phpredis: one persistent connection per worker. It does not check the MAC of the id and
// connects as Redis's default user, for whom Redis checks no rights: both are less work than the site does.

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const SESSION_IDLE_MS = 604800_000;
const SESSION_ABSOLUTE_MS = 2592000_000;
const PROBLEMS = [1 => [404, 'not-found'], 4 => [403, 'not-for-you'], 5 => [410, 'empty'], 6 => [410, 'expired'], 7 => [503, 'busy']];

function answer(int $status, string $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    header('Cache-Control: no-store');
    header('Vary: Accept, Accept-Language, Cookie');
    header('Content-Length: ' . strlen($body));
    echo $body;
}

function problem(int $status, string $name): void
{
    answer($status, json_encode(['type' => "urn:hongbao:problem:$name", 'status' => $status], JSON_UNESCAPED_SLASHES) . "\n");
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

function grab(Redis $redis, int $id, array $visitor): void
{
    $slot = sprintf('hb:{p%02d}:', $id % (int)getenv('BENCH_PARTITIONS'));
    $answers = $redis->rawCommand('FCALL', getenv('BENCH_GRAB_FUNCTION'), '5', "{$slot}packet:$id", "{$slot}shares:$id",
        "{$slot}grabs:$id", "{$slot}order:$id", "{$slot}events", (string)$id, $visitor[0], $visitor[1], '', '');
    $result = is_array($answers) ? $answers[0] : null; // of a crowd of one
    $code = $result[0] ?? 0;
    if ($code === 2 || $code === 3) {
        answer(200, json_encode(['result' => $code === 2 ? 'grabbed' : 'already', 'share_no' => $result[1],
            'amount_fen' => $result[2], 'left_count' => $result[3]]) . "\n");
        return;
    }
    problem(...(PROBLEMS[$code] ?? [503, 'unknown']));
}

function open(): void
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST' || !preg_match('#^/p/([0-9A-Za-z]{26})/open$#', $_SERVER['REQUEST_URI'], $path)) {
        problem(404, 'not-found');
        return;
    }
    if (!same_origin()) {
        problem(403, 'cross-origin');
        return;
    }
    $token = $_COOKIE['sid'] ?? '';
    if (!preg_match('/^[A-Za-z0-9_-]{43}$/D', $token)) {
        problem(401, 'unauthorized');
        return;
    }
    $id = packet_id($path[1]);
    if ($id === null) {
        problem(404, 'not-found');
        return;
    }
    try {
        $redis = new Redis();
        $redis->pconnect(getenv('BENCH_REDIS_SOCKET'));
        $visitor = session_read($redis->get('hb:session:' . hash('sha256', $token)));
        if ($visitor === null) {
            problem(401, 'unauthorized');
        } else {
            grab($redis, $id, $visitor);
        }
    } catch (RedisException) {
        problem(503, 'busy');
    }
}

open();
