/*
 * Sends an outbox table to the feed: its rows in their order, until each is answered. Copy it. It needs Java 17 and the
 * driver of your database:
 *
 *     FEED_URL=https://feed.example.com FEED_TOKEN=fl-feed... OUTBOX=jdbc:postgresql:erp java -cp driver.jar Sender.java
 *
 * Your system inserts a row in the transaction that changes something: `body` is a change of the feed as JSON, with its
 * `id`. One sender runs for a table. It can be killed at any moment: what was applied by then is skipped. A refused row
 * keeps its error, and the rows behind it go on: correct it and set its status to NULL, and it is sent again.
 *
 *     CREATE TABLE outbox (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body TEXT NOT NULL, status TEXT, error TEXT)
 */
import java.net.URI;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;

public class Sender {
    static final int BATCH_ROWS = 100, BATCH_BYTES = 1_000_000; // A row may be longer; a request has at most 8 MiB.
    // The status stands before the record, and before the error, which ends the answer.
    static final Pattern ANSWER = Pattern.compile("\"status\":\"(\\w+)\"(?:,\"error\":(\\{.*\\})\\}$)?", Pattern.DOTALL);
    static final HttpClient http = HttpClient.newHttpClient();
    static long waitMs;

    public static void main(String[] args) throws Exception {
        Connection db = DriverManager.getConnection(System.getenv("OUTBOX"));
        PreparedStatement findRows = db.prepareStatement("SELECT id, body FROM outbox WHERE status IS NULL ORDER BY id");
        findRows.setMaxRows(BATCH_ROWS);
        PreparedStatement keepAnswer = db.prepareStatement("UPDATE outbox SET status = ?, error = ? WHERE id = ?");
        for (int tries = 0; ; Thread.sleep(Math.max(waitMs, tries == 0 ? 0 : Math.min(30_000, 250L << Math.min(tries, 8))))) {
            Map<Long, String> batch = new LinkedHashMap<>();
            try (ResultSet rows = findRows.executeQuery()) {
                for (int bytes = 0; rows.next(); ) {
                    // A change is one line of at most 8 MiB, and a blank line is none: it is refused, and those behind it go on.
                    String line = rows.getString("body").replaceAll("^\ufeff|[\r\n]", " ");
                    int length = line.getBytes(StandardCharsets.UTF_8).length;
                    bytes += length + 1;
                    if (!batch.isEmpty() && bytes > BATCH_BYTES) break;
                    batch.put(rows.getLong("id"), line.isBlank() || length > 8_388_608 ? "\"blank, or longer than 8 MiB\"" : line);
                }
            }
            waitMs = batch.isEmpty() ? 1000 : 0;
            Iterator<Long> ids = batch.keySet().iterator();
            for (String text : batch.isEmpty() ? List.<String>of() : post(batch.values())) {
                Matcher answer = ANSWER.matcher(text);
                if (!answer.find() || answer.group(1).equals("not_tried") || text.contains("\"error\":{\"code\":\"unavailable\"")) break;
                keepAnswer.setString(1, answer.group(1));
                keepAnswer.setString(2, answer.group(2));
                keepAnswer.setLong(3, ids.next());
                keepAnswer.executeUpdate();
            }
            tries = ids.hasNext() ? tries + 1 : 0;
        }
    }

    /** Gives the answers, or none. */
    static List<String> post(Collection<String> lines) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("FEED_URL").strip() + "/feed/v1/changes"))
            .headers("Authorization", "Bearer " + System.getenv("FEED_TOKEN").strip(), "Content-Type", "application/x-ndjson")
            .POST(HttpRequest.BodyPublishers.ofString(String.join("\n", lines))).build();
        try {
            // A timeout of the request itself would end with the headers of its answer.
            HttpResponse<String> response = http.sendAsync(request, HttpResponse.BodyHandlers.ofString()).get(60, TimeUnit.SECONDS);
            int status = response.statusCode();
            List<String> answers = status == 200 ? List.of(response.body().split("\n")) : List.of();
            if (answers.size() == lines.size()) return answers;
            System.err.println(status + " " + response.body());
            // Sending again doesn't help, as for a revoked token.
            if (status >= 300 && status < 500 && status != 408 && status != 425 && status != 429) System.exit(1);
            String seconds = response.headers().firstValue("Retry-After").orElse("");
            if (seconds.matches("\\d{1,6}")) waitMs = 1000 * Long.parseLong(seconds);
        } catch (ExecutionException | TimeoutException error) {
            System.err.println(error);
        }
        return List.of();
    }
}
