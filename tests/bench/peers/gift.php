<?php
// A whole gift in php-fpm as people usually write it, with phpredis and PDO and a persistent connection of each worker
// to both: the session in Redis, the packet and its grabs in MariaDB, the shares as a list in Redis. POST /send,
// GET /p/ID and POST /p/ID/open do what gift.c does; the tables are those of mariadb.sql.
require 'visitor.php';

const LIFETIME_MS = 86400_000;
const SHARES_MAX = 1000;

function now_ms(): int
{
    return (int)(microtime(true) * 1000);
}

// ---- ids ----

// Two zero bits, the id and 64 bits of its MAC, five bits a character.
function public_id(int $id): string
{
    $wire = pack('J', $id) . substr(hash_hmac('sha256', pack('J', $id), getenv('BENCH_SECRET'), true), 0, 8);
    $text = '';
    $bits = 0;
    $held = 2;
    foreach (unpack('C*', $wire) as $byte) {
        $bits = ($bits << 8 | $byte) & 0xffff;
        for ($held += 8; $held >= 5; $text .= DIGITS[$bits >> $held & 31]) {
            $held -= 5;
        }
    }
    return $text;
}

function packet_id_checked(string $text): ?int
{
    $id = packet_id($text);
    return $id !== null && hash_equals(public_id($id), strtolower($text)) ? $id : null;
}

// ---- MariaDB ----

function tables(): PDO
{
    [$socket, $database] = [getenv('BENCH_MYSQL_SOCKET'), getenv('BENCH_MYSQL_DATABASE')];
    $options = [PDO::ATTR_PERSISTENT => true];
    return new PDO("mysql:charset=utf8mb4;unix_socket=$socket;dbname=$database", getenv('BENCH_MYSQL_USER'),
        getenv('BENCH_MYSQL_PASSWORD'), $options);
}

function run(PDO $db, string $sql, array $values): PDOStatement
{
    $statement = $db->prepare($sql);
    $statement->execute($values);
    return $statement;
}

// Runs work() in a transaction; what it returns. An exception ends the transaction without effect.
function transaction(PDO $db, callable $work): mixed
{
    $db->beginTransaction();
    try {
        $result = $work();
        $db->commit();
        return $result;
    } catch (Throwable $error) {
        if ($db->inTransaction()) {
            $db->rollBack();
        }
        throw $error;
    }
}

// ---- sending ----

final class TooPoor extends Exception
{
}

// Twice the average of what is left, at most; then the shuffle.
function draw(int $fen, int $count): array
{
    $shares = [];
    for ($left = $count; $left > 1; $left--) {
        $shares[] = random_int(1, max(1, intdiv(2 * $fen, $left) - 1));
        $fen -= end($shares);
    }
    $shares[] = $fen;
    for ($i = $count - 1; $i > 0; $i--) {
        $j = random_int(0, $i);
        [$shares[$i], $shares[$j]] = [$shares[$j], $shares[$i]];
    }
    return $shares;
}

// [fen, count, greeting, request key] of the form, or null.
function order_read(): ?array
{
    $range = ['options' => ['min_range' => 1, 'max_range' => SHARES_MAX]];
    $count = filter_var($_POST['count'] ?? '', FILTER_VALIDATE_INT, $range);
    $greeting = $_POST['greeting'] ?? '';
    $key = $_POST['request_key'] ?? '';
    if (($_POST['kind'] ?? '') !== 'lucky' || $count === false || !is_greeting($greeting)
        || !preg_match('/^(\d{1,7})(?:\.(\d\d))?$/D', $_POST['amount'] ?? '', $yuan)
        || !preg_match('/^[A-Za-z0-9_-]{1,64}$/D', $key)) {
        return null;
    }
    $fen = 100 * (int)$yuan[1] + (int)($yuan[2] ?? 0);
    return $fen >= $count ? [$fen, $count, $greeting, $key] : null;
}

// Valid UTF-8 of at most 255 bytes.
function is_greeting(string $text): bool
{
    return strlen($text) <= 255 && preg_match('//u', $text) === 1;
}

// Writes the packet and moves its money into its account; its id.
function order_write(PDO $db, array $visitor, int $fen, int $count, string $greeting, string $key): int
{
    return transaction($db, function () use ($db, $visitor, $fen, $count, $greeting, $key) {
        $now = now_ms();
        [$user, $name] = $visitor;
        run($db, 'INSERT INTO packet (sender_id, sender_name, greeting, count, amount_fen, created_ms, expires_ms,'
            . ' request_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
            [$user, $name, $greeting, $count, $fen, $now, $now + LIFETIME_MS, $key]);
        $id = (int)$db->lastInsertId();
        $paid = run($db, 'UPDATE account SET balance_fen = balance_fen - ? WHERE id = ? AND balance_fen >= ?',
            [$fen, $user, $fen]);
        if ($paid->rowCount() !== 1) {
            throw new TooPoor();
        }
        run($db, 'INSERT INTO account (id, balance_fen) VALUES (?, ?)', [$id, $fen]);
        run($db, 'INSERT INTO transfer (debit_id, credit_id, amount_fen, created_ms) VALUES (?, ?, ?, ?)',
            [$user, $id, $fen, $now]);
        return $id;
    });
}

function send(Redis $redis, array $visitor): void
{
    $order = order_read();
    if ($order === null) {
        problem(422, 'invalid');
        return;
    }
    [$fen, $count, , $key] = $order;
    $db = tables();
    $status = 201;
    try {
        $id = order_write($db, $visitor, ...$order);
        $redis->rPush("gift:left:$id", ...draw($fen, $count));
    } catch (TooPoor) {
        problem(422, 'no-balance');
        return;
    } catch (PDOException $error) {
        if (($error->errorInfo[1] ?? 0) !== 1062) { // not a request key that was used before
            throw $error;
        }
        $status = 200;
        $id = (int)run($db, 'SELECT id FROM packet WHERE sender_id = ? AND request_key = ?', [$visitor[0], $key])
            ->fetchColumn();
    }
    answer($status, json_encode(['id' => public_id($id), 'count' => $count]) . "\n");
}

// ---- the page of a packet ----

function yuan(int $fen): string
{
    return number_format($fen / 100, 2, '.', '');
}

function packet_html(array $packet): string
{
    [$name, $greeting] = [htmlspecialchars($packet['sender_name']), htmlspecialchars($packet['greeting'])];
    [$grabbed, $amount] = [yuan($packet['grabbed_fen']), yuan($packet['amount_fen'])];
    $expires = date('Y-m-d H:i:s', intdiv($packet['expires_ms'], 1000));
    return "<section class=\"card\"><h1><bdi translate=\"no\">$name</bdi></h1>"
        . "<p class=\"greeting\" dir=\"auto\">$greeting</p>"
        . "<p class=\"progress\">{$packet['grabbed_count']}/{$packet['count']} · $grabbed/$amount</p>"
        . "<p class=\"hint\">$expires</p></section>";
}

// The list of grabs, for those who have a share and for all when none is left; otherwise the button.
function grabs_html(array $grabs, int $user, bool $is_over): string
{
    if (!$is_over && !in_array($user, array_column($grabs, 'user_id'))) {
        return '<form method="post" action="open"><button class="open">開</button></form>';
    }
    $rows = '';
    foreach ($grabs as $grab) {
        $seconds = intdiv($grab['grabbed_ms'], 1000);
        [$name, $amount] = [htmlspecialchars($grab['nickname']), yuan($grab['amount_fen'])];
        [$instant, $time] = [date('c', $seconds), date('Y-m-d H:i:s', $seconds)];
        $rows .= '<li class="row"><span class="avatar" aria-hidden="true"></span><span class="who">'
            . "<b><bdi translate=\"no\">$name</bdi></b><small><time datetime=\"$instant\">$time</time></small></span>"
            . "<span class=\"sum\"><b>$amount</b></span></li>";
    }
    return "<ul class=\"rows\">$rows</ul>";
}

function view(int $id, array $visitor): void
{
    $db = tables();
    $packet = run($db, 'SELECT sender_name, greeting, count, amount_fen, grabbed_count, grabbed_fen, expires_ms'
        . ' FROM packet WHERE id = ?', [$id])->fetch(PDO::FETCH_ASSOC);
    if ($packet === false) {
        problem(404, 'not-found');
        return;
    }
    $grabs = run($db, 'SELECT user_id, nickname, amount_fen, grabbed_ms FROM `grab` WHERE packet_id = ?'
        . ' ORDER BY share_no', [$id])->fetchAll(PDO::FETCH_ASSOC);
    $gift = packet_html($packet) . grabs_html($grabs, (int)$visitor[0], $packet['count'] === $packet['grabbed_count']);
    ob_start();
    require getenv('BENCH_PAGE'); // it shows $gift
    answer(200, ob_get_clean(), 'text/html; charset=utf-8');
}

// ---- opening ----

// Takes a share in Redis, then writes it and its money.
function grab(Redis $redis, int $id, array $visitor): void
{
    $got = $redis->evalSha(getenv('BENCH_TAKE'), ["gift:left:$id", "gift:taken:$id", $visitor[0]], 2);
    if (is_array($got) && $got[0] === 2) {
        [, $share_no, $fen] = $got;
        $db = tables();
        transaction($db, function () use ($db, $id, $visitor, $share_no, $fen) {
            run($db, 'INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)'
                . ' VALUES (?, ?, ?, ?, ?, ?)', [$id, $share_no, $visitor[0], $visitor[1], $fen, now_ms()]);
            run($db, 'UPDATE packet SET grabbed_count = grabbed_count + 1, grabbed_fen = grabbed_fen + ? WHERE id = ?',
                [$fen, $id]);
            run($db, 'UPDATE account SET balance_fen = balance_fen - ? WHERE id = ?', [$fen, $id]);
            run($db, 'UPDATE account SET balance_fen = balance_fen + ? WHERE id = ?', [$fen, $visitor[0]]);
        });
    }
    answer_grab($got);
}

function gift(): void
{
    $posted = $_SERVER['REQUEST_METHOD'] === 'POST';
    $sent = $posted && $_SERVER['REQUEST_URI'] === '/send';
    $named = preg_match('#^/p/([0-9A-Za-z]{26})(/open)?$#D', $_SERVER['REQUEST_URI'], $path);
    $id = $named ? packet_id_checked($path[1]) : null;
    if (!$sent && ($id === null || $posted !== isset($path[2]))) {
        problem(404, 'not-found');
        return;
    }
    if ($posted && !same_origin()) {
        problem(403, 'cross-origin');
        return;
    }
    try {
        $redis = redis();
        $visitor = visitor($redis);
        match (true) {
            $visitor === null => problem(401, 'unauthorized'),
            $sent => send($redis, $visitor),
            $posted => grab($redis, $id, $visitor),
            default => view($id, $visitor),
        };
    } catch (RedisException | PDOException $error) {
        error_log($error->getMessage());
        problem(503, 'busy');
    }
}

gift();
