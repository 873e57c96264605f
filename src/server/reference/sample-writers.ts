/*
 * Code samples of requests in each language of the reference.
 */
export interface Request {
  operationId: string;
  baseUrl: string;
  /** URL of the request without its query. */
  address: string;
  ids: string[];
  query: [name: string, value: string][];
}

/** Functions that write a sample in one language, by the kind of operation: a list, a record or a file. */
export type Writer = Record<'list' | 'record' | 'file', (request: Request) => string>;

/** Query parameter for the largest page size, with which a list takes the fewest requests. */
const longestPage: [string, string] = ['limit', '100'];

const curl: Writer = {
  list: ({ address, query }) => `
# Next page: add &cursor= and the answer's nextCursor.
curl --fail-with-body -H "Authorization: Bearer $API_KEY" \\
  "${address}?${joined([longestPage, ...query])}"`,
  record: ({ address }) => `
curl --fail-with-body -H "Authorization: Bearer $API_KEY" \\
  "${address}"`,
  file: ({ address }) => `
curl --fail -OJ -H "Authorization: Bearer $API_KEY" \\
  "${address}"`,
};

const typeScript: Writer = {
  list: (request) => `${typeScriptClient(request)}
for await (const record of ${typeScriptCall(request)}) {
  console.log(record);
}`,
  record: (request) => `${typeScriptClient(request)}
const record = await ${typeScriptCall(request)};
console.log(record);`,
  file: (request) => `
import { writeFile } from 'node:fs/promises';
${typeScriptClient(request)}
const { bytes, fileName } = await ${typeScriptCall(request)};
await writeFile(fileName, bytes);`,
};

function typeScriptClient({ baseUrl }: Request): string {
  return `
import { createClient } from '@fieldledger/client';

const client = createClient({
  baseUrl: '${baseUrl}',
  key: process.env.API_KEY ?? '',
});`;
}

function typeScriptCall({ operationId, ids, query }: Request): string {
  const members = query.map(([name, value]) => `${name}: '${value}'`);
  const args = [...ids.map((id) => `'${id}'`), ...(members.length > 0 ? [`{ ${members.join(', ')} }`] : [])];
  return `client.${operationId}(${args.join(', ')})`;
}

/** Python code that adds the API key without sending it to the target of a redirect too. */
const pythonKey = `request.add_unredirected_header("Authorization", "Bearer " + os.environ["API_KEY"])`;

const python: Writer = {
  list: ({ address, query }) => `
import json, os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

query = {${[longestPage, ...query].map(([name, value]) => `"${name}": "${value}"`).join(', ')}}
while True:
    request = Request("${address}?" + urlencode(query))
    ${pythonKey}
    with urlopen(request, timeout=60) as answer:
        page = json.load(answer)
    for record in page["data"]:
        print(record)
    if page["nextCursor"] is None:
        break
    query["cursor"] = page["nextCursor"]`,
  record: ({ address }) => `
import json, os
from urllib.request import Request, urlopen

request = Request("${address}")
${pythonKey}
with urlopen(request, timeout=60) as answer:
    record = json.load(answer)["data"]
print(record)`,
  file: ({ address }) => `
import os, shutil
from urllib.request import Request, urlopen

request = Request("${address}")
${pythonKey}
with urlopen(request, timeout=60) as answer, open("invoice.pdf", "wb") as file:
    shutil.copyfileobj(answer, file)`,
};

const php: Writer = {
  list: ({ address, query }) => `
<?php
$query = [${[longestPage, ...query].map(([name, value]) => `'${name}' => '${value}'`).join(', ')}];
do {
${indented(phpRequest(`'${address}?' . http_build_query($query)`), '    ')}
    $page = json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
    foreach ($page['data'] as $record) print_r($record);
    $query['cursor'] = $page['nextCursor'];
} while ($query['cursor'] !== null);`,
  record: ({ address }) => `
<?php
${phpRequest(`'${address}'`)}
$record = json_decode($answer, true, flags: JSON_THROW_ON_ERROR)['data'];
print_r($record);`,
  file: ({ address }) => `
<?php
${phpRequest(`'${address}'`)}
file_put_contents('invoice.pdf', $answer);`,
};

function phpRequest(address: string): string {
  return `$request = curl_init(${address});
curl_setopt_array($request, [
    CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('API_KEY')],
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FAILONERROR => true,
    CURLOPT_TIMEOUT => 60,
]);
$answer = curl_exec($request);
if ($answer === false) throw new RuntimeException(curl_error($request));`;
}

const cSharpClient = `
using var client = new HttpClient();
var key = Environment.GetEnvironmentVariable("API_KEY");
client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", key);`;

const cSharp: Writer = {
  list: ({ address, query }) => `
using System.Net.Http.Headers;
using System.Text.Json;
${cSharpClient}
var list = "${address}?${joined([longestPage, ...query])}";
string? cursor = null;
do
{
    var address = cursor is null ? list : $"{list}&cursor={cursor}";
    using var page = JsonDocument.Parse(await client.GetStringAsync(address));
    foreach (var record in page.RootElement.GetProperty("data").EnumerateArray())
        Console.WriteLine(record);
    cursor = page.RootElement.GetProperty("nextCursor").GetString();
} while (cursor is not null);`,
  record: ({ address }) => `
using System.Net.Http.Headers;
using System.Text.Json;
${cSharpClient}
using var answer = JsonDocument.Parse(await client.GetStringAsync(
    "${address}"));
Console.WriteLine(answer.RootElement.GetProperty("data"));`,
  file: ({ address }) => `
using System.Net.Http.Headers;
${cSharpClient}
var pdf = await client.GetByteArrayAsync(
    "${address}");
await File.WriteAllBytesAsync("invoice.pdf", pdf);`,
};

const go: Writer = {
  list: ({ address, query }) => `${goStart(['encoding/json', 'fmt', 'log', 'net/http', 'net/url', 'os'])}
	query := url.Values{${[longestPage, ...query].map(([name, value]) => `"${name}": {"${value}"}`).join(', ')}}
	for {
${indented(goRequest(`"${address}?"+query.Encode()`), '\t')}
		var page struct {
			Data       []json.RawMessage \`json:"data"\`
			NextCursor *string           \`json:"nextCursor"\`
		}
		err = json.NewDecoder(answer.Body).Decode(&page)
		answer.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		for _, record := range page.Data {
			fmt.Println(string(record))
		}
		if page.NextCursor == nil {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
}`,
  record: ({ address }) => `${goStart(['encoding/json', 'fmt', 'log', 'net/http', 'os'])}
${goRequest(`"${address}"`)}
	defer answer.Body.Close()
	var body struct {
		Data json.RawMessage \`json:"data"\`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body.Data))
}`,
  file: ({ address }) => `${goStart(['io', 'log', 'net/http', 'os'])}
${goRequest(`"${address}"`)}
	defer answer.Body.Close()
	pdf, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("invoice.pdf", pdf, 0o600); err != nil {
		log.Fatal(err)
	}
}`,
};

function goStart(packages: string[]): string {
  return `
package main

import (
${packages.map((name) => `\t"${name}"`).join('\n')}
)

func main() {`;
}

function goRequest(address: string): string {
  return `	request, err := http.NewRequest("GET", ${address}, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}`;
}

function joined(query: [string, string][]): string {
  return new URLSearchParams(query).toString();
}

function indented(code: string, indent: string): string {
  return code.replaceAll(/^/gm, indent);
}

/** Sample writers by language name, in the order in which the reference shows them. */
export const writers: Record<string, Writer> = {
  curl,
  TypeScript: typeScript,
  Python: python,
  PHP: php,
  'C#': cSharp,
  Go: go,
};
