<?php
/*
 * Sends an outbox table to the feed: its rows in their order, until each is answered. Copy it. It needs PHP 8.1 with PDO and
 * curl:
 *
 *     FEED_URL=https://feed.example.com FEED_TOKEN=fl-feed... OUTBOX=sqlite:outbox.db php sender.php
 *
 * Your system inserts a row in the transaction that changes something: `body` is a change of the feed as JSON, with its
 * `id`. One sender runs for a table. It can be killed at any moment: what was applied by then is skipped. A refused row
 * keeps its error, and the rows behind it go on: correct it and set its status to NULL, and it is sent again.
 *
 *     CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTO_INCREMENT, body LONGTEXT NOT NULL, status VARCHAR(20), error TEXT)
 */
const BATCH_ROWS = 100;
const BATCH_BYTES = 1_000_000; // A row may be longer; a request has at most 8 MiB.

$db = new PDO(getenv('OUTBOX'), getenv('OUTBOX_USER') ?: null, getenv('OUTBOX_PASSWORD') ?: null);
$findRows = 'SELECT id, body FROM outbox WHERE status IS NULL ORDER BY id LIMIT ' . BATCH_ROWS;
$keepAnswer = $db->prepare('UPDATE outbox SET status = ?, error = ? WHERE id = ?');

function next_batch(array $rows): array
{
    [$batch, $bytes] = [[], 0];
    foreach ($rows as ['id' => $id, 'body' => $body]) {
        // A change is one line of at most 8 MiB, and a blank line is none: it is refused, and those behind it go on.
        $line = trim(preg_replace('/^\xEF\xBB\xBF|[\r\n]/', ' ', $body));
        if ($line === '' || strlen($line) > 8_388_608) $line = '"blank, or longer than 8 MiB"';
        $bytes += strlen($line) + 1;
        if ($batch && $bytes > BATCH_BYTES) break;
        $batch[$id] = $line;
    }
    return $batch;
}

/** Gives the answers, or none, and the seconds that the feed asks to wait. */
function post(array $lines): array
{
    $retryAfter = 0;
    $request = curl_init(rtrim(getenv('FEED_URL'), "/ \r\n") . '/feed/v1/changes');
    curl_setopt_array($request, [
        CURLOPT_POSTFIELDS => implode("\n", $lines),
        CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . trim(getenv('FEED_TOKEN')), 'Content-Type: application/x-ndjson'],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 60,
        CURLOPT_HEADERFUNCTION => function ($request, $header) use (&$retryAfter) {
            if (preg_match('/^Retry-After: *(\d+)/i', $header, $found)) $retryAfter = (int) $found[1];
            return strlen($header);
        },
    ]);
    $body = curl_exec($request);
    $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
    $answers = $status === 200 && $body !== false ? explode("\n", rtrim($body, "\n")) : [];
    if (count($answers) === count($lines)) return [$answers, 0];
    fwrite(STDERR, (curl_error($request) ?: "$status $body") . "\n");
    // Sending again doesn't help, as for a revoked token.
    if ($status >= 300 && $status < 500 && !in_array($status, [408, 425, 429], true)) exit(1);
    return [[], $retryAfter];
}

for ($tries = 0; ;) {
    $batch = next_batch($db->query($findRows)->fetchAll(PDO::FETCH_ASSOC));
    [$answers, $retryAfter] = $batch ? post($batch) : [[], 1];
    $answered = 0;
    foreach ($answers as $text) {
        $answer = json_decode($text);
        $isFinal = in_array($answer->status ?? '', ['applied', 'skipped', 'refused'], true);
        if (!$isFinal || ($answer->error->code ?? '') === 'unavailable') break;
        $error = isset($answer->error) ? json_encode($answer->error) : null;
        $keepAnswer->execute([$answer->status, $error, array_keys($batch)[$answered]]);
        $answered += 1;
    }
    $tries = $answered === count($batch) ? 0 : $tries + 1;
    if ($tries || !$batch) usleep((int) (1_000_000 * max($retryAfter, $tries ? min(30, 2 ** $tries / 4) : 0)));
}
