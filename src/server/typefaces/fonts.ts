import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A family of fonts, with its files for regular and bold text. */
interface Family {
  name: string;
  files: readonly string[];
}

function family(from: string, name: string, styles = ['400Regular', '600SemiBold']): Family {
  return { name, files: styles.map((style) => `${from}/${style}/${name.replaceAll(' ', '')}_${style}.ttf`) };
}

/** The documents' own typeface, those of single scripts, and last the one for letters that all others lack. */
const FAMILIES: readonly Family[] = [
  { ...family('@expo-google-fonts/source-sans-3', 'SourceSans3'), name: 'Source Sans 3' },
  family('@expo-google-fonts/amiri', 'Amiri', ['400Regular', '700Bold']),
  family('@expo-google-fonts/noto-sans-hebrew', 'Noto Sans Hebrew'),
  family('@expo-google-fonts/noto-sans-devanagari', 'Noto Sans Devanagari'),
  family('@expo-google-fonts/noto-sans-thai', 'Noto Sans Thai'),
  family('@expo-google-fonts/noto-sans-sc', 'Noto Sans SC', ['400Regular']),
  family('@expo-google-fonts/noto-sans-jp', 'Noto Sans JP', ['400Regular']),
  family('@expo-google-fonts/noto-sans-kr', 'Noto Sans KR', ['400Regular']),
  {
    ...family('dejavu-fonts-ttf', 'DejaVu Sans', []),
    files: ['dejavu-fonts-ttf/ttf/DejaVuSans.ttf', 'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'],
  },
];

/** The families whose forms of Chinese letters a country's readers expect. */
const EAST: Partial<Record<string, string>> = { JP: 'Noto Sans JP', KR: 'Noto Sans KR', KP: 'Noto Sans KR' };

/** Returns the families' names in the order in which they are searched for a letter; the one for a country's readers comes first. */
export function familiesFor(country: string): string[] {
  const own = EAST[country];
  const names = FAMILIES.map(({ name }) => name);
  return own === undefined
    ? names
    : names.toSorted((one, other) => Number(other === own) - Number(one === own));
}

/** Returns the folders of all fonts. */
export function fontFolders(): string[] {
  return [...new Set(fontFiles().map((file) => dirname(file)))];
}

/**
 * Returns the files of all fonts: TrueType, OpenType or collections. The operator's are in the folder DOCUMENT_FONTS
 * (process/config.ts), read from the environment here, because processes that check text and that set it need the same ones.
 */
export function fontFiles(): string[] {
  const own = FAMILIES.flatMap(({ files }) => files.map((file) => fileURLToPath(import.meta.resolve(file))));
  const folder = process.env.DOCUMENT_FONTS;
  if (!folder) return own;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => FONT.test(name));
  return [...own, ...names.sort().map((name) => join(folder, name))];
}

/** Names of font files that Typst reads. */
const FONT = /\.(?:ttf|otf|ttc|otc)$/i;
