/* What is published in languages that are compiled, wherever there is a compiler: it takes more time than everything else. */
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

import t from 'tap';

import { root } from '../contract/_contract.ts';
import { judge, sampleIn, cases } from '../contract/_verification.ts';
import { startExampleServer } from '../_server.ts';
import {
  judgeOutput,
  judgePdf,
  missing,
  publishedSamples,
  run,
  sourceIn,
} from '../server/reference/_samples.ts';

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

// So short that every list has more than one page.
const shown = publishedSamples(server.url, 2);
const options = (cwd: string) => ({ cwd, env: { ...process.env, API_KEY: server.key } });
const withoutGo = missing('go', 'version');

t.test('the samples in C# read every page', { skip: missing('dotnet') }, async (t) => {
  for (const operation of shown) {
    const { operationId } = operation;
    const folder = t.testdir({ 'sample.cs': sourceIn('C#', operation) });
    const printed = await run('dotnet', ['run', 'sample.cs'], options(folder));
    await judgeOutput(t, [operation], `== ${operationId}\n${printed}`, server);
    if (operationId === 'getInvoicePdf') judgePdf(t, folder, 'invoice.pdf');
  }
});

t.test('the samples in Go read every page', { skip: withoutGo }, async (t) => {
  // One program is compiled much faster than twelve.
  const files = Object.fromEntries(
    shown.map((operation) => {
      const { operationId } = operation;
      const source = sourceIn('Go', operation).replace('func main()', `func ${operationId}()`);
      return [`${operationId}.go`, `${source}\n`];
    }),
  );
  const calls = shown.map(({ operationId }) => `\tfmt.Println("== ${operationId}")\n\t${operationId}()\n`);
  const main = `package main\n\nimport "fmt"\n\nfunc main() {\n${calls.join('')}}\n`;
  const folder = t.testdir({ ...files, 'go.mod': 'module samples\n\ngo 1.21\n', 'main.go': main });
  t.equal(await run('gofmt', ['-l', ...Object.keys(files)], options(folder)), '');
  await run('go', ['vet', '.'], options(folder));
  await judgeOutput(t, shown, await run('go', ['run', '.'], options(folder)), server);
  judgePdf(t, folder, 'invoice.pdf');
});

t.test('the code in Go tells genuine deliveries from others', { skip: withoutGo }, async (t) => {
  const program = `package main

import (
	"encoding/json"
	"os"
	"receiver/webhooks"
	"time"
)

func main() {
	var cases []struct {
		Secret, Header string
		Body           []byte
		Now            int64
	}
	file, err := os.Open("cases.json")
	if err != nil {
		panic(err)
	}
	if err := json.NewDecoder(file).Decode(&cases); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, c := range cases {
		verdicts = append(verdicts, webhooks.IsGenuine(c.Secret, c.Header, c.Body, time.Unix(c.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`;
  const folder = t.testdir({
    'go.mod': 'module receiver\n\ngo 1.21\n',
    'main.go': program,
    'cases.json': JSON.stringify(cases.map((given) => ({ ...given, body: given.body.toString('base64') }))),
    webhooks: { 'verify.go': sampleIn('go') },
  });
  judge(t, JSON.parse(await run('go', ['run', '.'], { cwd: folder })) as unknown[]);
});

t.test('the senders compile', async (t) => {
  const csproj =
    '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net8.0</TargetFramework><ImplicitUsings>enable</ImplicitUsings><Nullable>enable</Nullable></PropertyGroup></Project>';
  for (const [compiler, args, file] of [
    ['javac', ['-Xlint:all', '-Werror', '-d', '.', 'Sender.java'], 'Sender.java'],
    ['dotnet', ['build', '--nologo'], 'Sender.cs'],
  ] as const)
    await t.test(file, { skip: missing(compiler) }, async (t) => {
      const folder = t.testdir({ 'sender.csproj': csproj });
      copyFileSync(fileURLToPath(new URL(`src/examples/${file}`, root)), join(folder, file));
      await t.resolves(run(compiler, [...args], { cwd: folder }));
    });
});
