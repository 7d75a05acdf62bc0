<?php
// POST /p/ID/open in php-fpm with phpredis. It does not check the MAC of the id: that is less work than the site does.
require 'visitor.php';

function grab(Redis $redis, int $id, array $visitor): void
{
    $slot = sprintf('hb:{p%02d}:', $id % (int)getenv('BENCH_PARTITIONS'));
    $answers = $redis->rawCommand('FCALL', getenv('BENCH_GRAB_FUNCTION'), '5', "{$slot}packet:$id", "{$slot}shares:$id",
        "{$slot}grabs:$id", "{$slot}order:$id", "{$slot}events", (string)$id, $visitor[0], $visitor[1], '', '');
    answer_grab(is_array($answers) ? $answers[0] : null); // of a crowd of one
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
    $id = packet_id($path[1]);
    if ($id === null) {
        problem(404, 'not-found');
        return;
    }
    try {
        $redis = redis();
        $visitor = visitor($redis);
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
