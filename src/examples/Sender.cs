// Sends an outbox table to the feed: its rows in their order, until each is answered. Copy it into a program for .NET 8, and
// give it an open connection of your database: await Sender.Run(connection, "https://feed.example.com", feedToken);
//
// Your system inserts a row in the transaction that changes something: `body` is a change of the feed as JSON, with its `id`.
// One sender runs for a table. It can be killed at any moment: what was applied by then is skipped. A refused row keeps its
// error, and the rows behind it go on: correct it and set its status to NULL, and it is sent again.
//
//     CREATE TABLE outbox (id BIGINT IDENTITY PRIMARY KEY, body NVARCHAR(MAX) NOT NULL, status VARCHAR(20), error NVARCHAR(MAX))
using System.Data.Common;
using System.Text;
using System.Text.Json;

public static class Sender
{
    const string FindRows = "SELECT TOP 100 id, body FROM outbox WHERE status IS NULL ORDER BY id"; // Elsewhere LIMIT 100, at the end.
    const string KeepAnswer = "UPDATE outbox SET status = @p0, error = @p1 WHERE id = @p2";
    const int BatchBytes = 1_000_000; // A row may be longer; a request has at most 8 MiB.
    static readonly HttpClient Http = new(new HttpClientHandler { AllowAutoRedirect = false }) { Timeout = TimeSpan.FromSeconds(60) };
    static double waitSeconds;

    public static async Task Run(DbConnection outbox, string feedUrl, string token)
    {
        for (var tries = 0; ; await Task.Delay(TimeSpan.FromSeconds(Math.Max(waitSeconds, tries == 0 ? 0 : Math.Min(30, Math.Pow(2, tries) / 4)))))
        {
            var batch = new List<(long Id, string Line)>();
            using (var rows = Command(outbox, FindRows).ExecuteReader())
                for (var bytes = 0; rows.Read();)
                {
                    // A change is one line of at most 8 MiB, and a blank line is none: it is refused, and those behind it go on.
                    var line = rows.GetString(1).TrimStart('\uFEFF').Replace('\r', ' ').Replace('\n', ' ');
                    bytes += Encoding.UTF8.GetByteCount(line) + 1;
                    if (batch.Count > 0 && bytes > BatchBytes) break;
                    batch.Add((rows.GetInt64(0), string.IsNullOrWhiteSpace(line) || Encoding.UTF8.GetByteCount(line) > 8_388_608 ? "\"blank, or longer than 8 MiB\"" : line));
                }
            waitSeconds = batch.Count == 0 ? 1 : 0;
            var answered = 0;
            foreach (var text in batch.Count == 0 ? Array.Empty<string>() : await Post(feedUrl, token, batch.ConvertAll(row => row.Line)))
            {
                var answer = JsonDocument.Parse(text).RootElement;
                var (status, isRefused) = (answer.GetProperty("status").GetString()!, answer.TryGetProperty("error", out var error));
                if (status is not ("applied" or "skipped" or "refused") || (isRefused && error.GetProperty("code").GetString() == "unavailable")) break;
                Command(outbox, KeepAnswer, status, isRefused ? error.GetRawText() : DBNull.Value, batch[answered++].Id).ExecuteNonQuery();
            }
            tries = answered == batch.Count ? 0 : tries + 1;
        }
    }

    // Gives the answers, or none.
    static async Task<string[]> Post(string feedUrl, string token, List<string> lines)
    {
        var content = new StringContent(string.Join('\n', lines), Encoding.UTF8, "application/x-ndjson");
        using var request = new HttpRequestMessage(HttpMethod.Post, feedUrl + "/feed/v1/changes") { Content = content };
        request.Headers.Authorization = new("Bearer", token.Trim());
        try
        {
            using var response = await Http.SendAsync(request);
            var (status, body) = ((int)response.StatusCode, await response.Content.ReadAsStringAsync());
            var answers = body.TrimEnd('\n').Split('\n');
            if (status == 200 && answers.Length == lines.Count) return answers;
            // Sending again doesn't help, as for a revoked token.
            if (status is >= 300 and < 500 and not 408 and not 425 and not 429) throw new InvalidOperationException($"{status} {body}");
            waitSeconds = response.Headers.RetryAfter?.Delta?.TotalSeconds ?? 0;
        }
        catch (Exception error) when (error is HttpRequestException or IOException or TaskCanceledException) { } // It is sent again.
        return Array.Empty<string>();
    }

    static DbCommand Command(DbConnection outbox, string text, params object[] values)
    {
        var command = outbox.CreateCommand();
        command.CommandText = text;
        foreach (var value in values)
        {
            var parameter = command.CreateParameter();
            (parameter.ParameterName, parameter.Value) = ($"@p{command.Parameters.Count}", value);
            command.Parameters.Add(parameter);
        }
        return command;
    }
}
