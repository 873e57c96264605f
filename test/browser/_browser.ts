import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import type { Test } from 'tap';

export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const packages = join(import.meta.dirname, '..', '..', 'node_modules');

/**
 * Opens the Chromium that npm installed, and closes it when the test ends. CHROMIUM_PATH names another one, for the
 * machines that this one isn't built for (it is for Linux on x64).
 */
export async function openBrowser(t: Test): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await unpackBrowser());
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...missingLibraries(executablePath) },
    // Build machines run as root in a container, where Chromium's own sandbox can't be set up.
    args: ['--no-sandbox'],
  });
  t.teardown(() => browser.close());
  return browser;
}

/**
 * Unpacks Chromium once per installation: beside the packages rather than in the shared temporary folder, where it
 * would by default run whatever somebody put under that name, or the half of it that another test is still writing.
 */
async function unpackBrowser(): Promise<string> {
  const folder = join(packages, '.cache', `chromium-${versionOf('@sparticuz/chromium')}`);
  if (!existsSync(folder)) {
    const draft = `${folder}-${process.pid}`;
    mkdirSync(draft, { recursive: true });
    await unpackInto(draft);
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Another test file was faster; its copy is as good.
      if (!existsSync(folder)) throw error;
      rmSync(draft, { recursive: true });
    }
  }
  return join(folder, 'chromium');
}

/**
 * In a process of its own: the package can be told where to unpack by TMPDIR alone, and whatever else this process puts
 * into its temporary folder meanwhile would be moved away with the draft.
 */
async function unpackInto(folder: string): Promise<void> {
  const libraries = join(packages, '@sparticuz', 'chromium', 'bin', 'al2023.tar.br');
  const script = `
    import browserPackage, { inflate } from '@sparticuz/chromium';
    await browserPackage.executablePath();
    await inflate(${JSON.stringify(libraries)});`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: join(packages, '..'),
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  if (exitCode !== 0) throw new Error(`Chromium can't be unpacked: exit code ${exitCode}.`);
}

/** The package carries the shared libraries and a font for machines that have none of their own. */
function missingLibraries(executablePath: string): NodeJS.ProcessEnv {
  const folder = join(executablePath, '..');
  const fonts = existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') };
  const starts = spawnSync(executablePath, ['--version']).status === 0;
  return starts ? fonts : { ...fonts, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') };
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
