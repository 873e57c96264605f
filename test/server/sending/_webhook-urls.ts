/** A part of a host name with so many characters. */
function labelOf(length: number): string {
  return 'a'.repeat(length);
}

/** A host name whose parts before `.com` have so many characters. */
function nameOf(...lengths: number[]): string {
  return `${lengths.map(labelOf).join('.')}.com`;
}

/** Addresses without blanks in them, from a text with blanks between them. */
const urls = (text: string) => text.trim().split(/ *\n *| +/);

/** Addresses that are accepted as they are. */
const canonicalUrls = [
  ...urls(`
    https://example.com/hook https://sub.a-b.example.co.uk/ https://xn--fa-hia.de/ https://a.xn--p1ai/
    https://github.io/ https://x.host/ https://127.0.0.1.nip.io/ https://0x7f000001.nip.io/
    https://169.254.169.254.nip.io/ https://local.example.com/ https://localhost.example.com/
    https://home.network/ https://corp.com/ https://internal.io/ https://1.com/
    https://r3---sn-4g5e6nz7.example.com/ https://example.com/a/%20b//c;d=1,2/@me:x?q=[1]&r=%7B
    https://example.com/?u=https://user:pw@127.0.0.1/`),
  `https://${nameOf(63, 63, 63, 57)}/`,
  `https://example.com/${'x'.repeat(2_028)}`,
];

/** Addresses that are accepted, each with its canonical form. */
export const acceptedUrls: readonly [given: string, canonical: string][] = [
  ...canonicalUrls.map((url): [string, string] => [url, url]),
  ['https://EXAMPLE.com/Hook?x=1', 'https://example.com/Hook?x=1'],
  ['HTTPS://example.com/', 'https://example.com/'],
  ['https://example.com:443/hook', 'https://example.com/hook'],
  ['https://example.com:0443/hook', 'https://example.com/hook'],
  ['https://XN--FA-HIA.de/', 'https://xn--fa-hia.de/'],
  ['https://fa\u00df.de/', 'https://xn--fa-hia.de/'],
  ['https://b\u00fccher.de/', 'https://xn--bcher-kva.de/'],
  ['https://B\u00dcCHER.de:443/Hook', 'https://xn--bcher-kva.de/Hook'],
  // Persian, with the non-joiner that its spelling needs.
  ['https://\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com/', 'https://xn--mgba3gch31f060k.com/'],
  ['https://\u212aubernetes.com/', 'https://kubernetes.com/'],
  ['https://example\u3002com/', 'https://example.com/'],
  ['https://exam\u00adple.com/', 'https://example.com/'],
  ['https://example.com', 'https://example.com/'],
  ['https://example.com?x=1', 'https://example.com/?x=1'],
];

/** Addresses that are refused, by a part of the rule that the refusal names. */
export const refusedUrls: Record<string, readonly string[]> = {
  'must begin with https:// and a host name': [
    '',
    ...urls(`
      https https: https:// https:/// https://?x x /hook ?
      http://example.com/ HTTP://example.com/ http://example.com:443/ httpss://example.com/ http\u017f://example.com/
      ftp://example.com/ file:///etc/passwd gopher://example.com/ javascript:alert(1) data:text/plain,x
      unix:/var/run/docker.sock ws://example.com/ wss://example.com/ blob:https://example.com/x url:https://example.com/
      //example.com/ example.com/hook example.com https//example.com ht%74ps://example.com/
      https:/example.com https:example.com https:///example.com https:////example.com`),
  ],
  'must have no blanks, line breaks or control characters': [
    ' https://example.com/ ',
    'https://example.com/ ',
    '\thttps://example.com/',
    'https://exa\tmple.com/',
    'https://example.com/\n',
    'https://example.com/\r\nX-Evil: 1',
    'ht\ntps://example.com/',
    'https://ex ample.com/',
    'https://example.com/a b',
    'https://example.com/\0',
    'https://exa\0mple.com/',
    'https://example.com/\u007f',
    'https://example.com/\u0085',
    'https://exam\u00a0ple.com/',
    'https://example\u3000.com/',
    'https://example.com/\u2028',
    '\ufeffhttps://example.com',
  ],
  'must have no backslashes': [
    'https:\\\\example.com\\x',
    'https://127.0.0.1\\@example.com/',
    'https://example.com\\@127.0.0.1/',
    'https:/\\example.com/',
    'https://example.com/a\\b',
    'https://example.com/?a\\b',
  ],
  'must have no user name or password': urls(`
    https://user:pw@example.com/ https://user@example.com/ https://@example.com/ https://:@example.com/
    https://example.com@127.0.0.1/ https://127.0.0.1@example.com/ https://a@b@example.com/
    https://example.com:443@127.0.0.1/ https://[::1]@example.com/ https://example.com%2f@127.0.0.1/`),
  'must have no fragment': urls(`
    https://127.0.0.1#@example.com/ https://example.com/#frag https://example.com# https://example.com/?x#y
    https://example.com#@127.0.0.1/`),
  'must use port 443': urls(`
    https://example.com:8443/ https://example.com:0/ https://example.com:65536/ https://example.com:80/
    https://example.com:443abc/ https://example.com:/ https://example.com:4430/ https://example.com:+443/
    https://example.com:-443/ https://example.com:443:443/ https://example.com:\uff14\uff14\uff13/
    https://example.com:1b/ https://example.com:65979/ https://::1/ https://127.0.0.1:8080/`),
  'must have a host name and not a numeric address': urls(`
    https://127\u30020\u30020\u30021/ https://\uff11\uff12\uff17.0.0.1/ https://\u2460\u2461\u2466.0.0.1/
    https://127.0.0.1/ https://8.8.8.8/ https://127.1/ https://127.0.1/ https://2130706433/ https://134744072/
    https://0x7f000001/ https://0X7F000001/ https://0x7f.1/ https://0177.0.0.1/ https://017700000001/
    https://127.0.0.0x1/ https://0/ https://0x/ https://1.0x/ https://08/ https://256.256.256.256/
    https://1.2.3.4.5/ https://example.123/ https://example.0x1f/ https://99999999999999999999/
    https://127.0.0.1./ https://127.1./ https://example.123./ https://127.0.0.1:443/ https://1.2.3/ https://a.0/
    https://0.0.0.0/ https://169.254.169.254/x https://[::1]/ https://[::]/ https://[::ffff:127.0.0.1]/
    https://[::ffff:0:7f00:1]/ https://[64:ff9b::7f00:1]/ https://[2606:4700:4700::1111]/ https://[::1%25lo]/
    https://[v1.x]/ https://[::1]:443/ https://[fe80::1%25eth0]/ https://[example.com]/ https://[ https://[]/`),
  'must have no percent-encoding in its host name': urls(`
    https://127%2e0%2e0%2e1/ https://%6c%6f%63%61%6c%68%6f%73%74/ https://example%2ecom/ https://%/
    https://example.com%00.example.net/ https://ex%61mple.com/ https://%E2%84%AAubernetes.com/
    https://example.com%3a443/`),
  'must have a public host name': urls(`
    https://localhost/ https://LOCALHOST/ https://foo.localhost/ https://localhost.localdomain/ https://a/
    https://intranet/ https://com/ https://metadata/ https://printer.local/ https://PRINTER.LOCAL/
    https://x.internal/ https://metadata.google.internal/ https://x.intranet/ https://x.lan/ https://x.home/
    https://x.corp/ https://x.private/ https://x.mail/ https://x.home.arpa/ https://1.0.0.127.in-addr.arpa/
    https://x.ip6.arpa/ https://ipv4only.arpa/ https://x.onion/ https://x.test/ https://x.example/
    https://kubernetes.default.svc/ https://api.default.svc/ https://co.uk/ https://uk/ https://xn--p1ai/
    https://gov.uk/ https://db.consul/ https://x.cluster/ https://e164.arpa/ https://example.onion/
    https://example.c/ https://example.c0m/ https://example.1a/ https://example.co-m/ https://a.0xg/
    https://\u0440\u0444/ https://example.\u0441om/ https://\uff4cocalhost/ https://loc\u00e4l/
    https://example.com\u2044x/
    https://x.invalid/ https://x.alt/ https://api.x.svc.cluster.local/ https://host.docker.internal/
    https://xn--fa-hia/`),
  'must have a host name without a full stop at its end': urls(`
    https://localhost./ https://example.com./ https://example.com../ https://example.com.:443/ https://./`),
  'must have a host name whose parts are': urls(`
    https://a..example.com/ https://.example.com/ https://-a.example.com/ https://a-.example.com/
    https://*.example.com/ https://_dmarc.example.com/ https://a'b.example.com/ https://a,b.com/ https://a!b.com/
    https://a;b.com/ https://a&b.com/ https://a$b.com/ https://a(b).com/ https://a=b.com/ https://a+b.com/
    https://a~b.com/ https://a|b.com/ https://a<b>.com/ https://a^b.com/ https://a\`b.com/ https://a{b}.com/
    https://a"b.com/ https://-/ https://${labelOf(64)}.com/ https://a.${labelOf(77)}.com/`),
  'must have a host name of at most 253 characters': [
    `https://${nameOf(63, 63, 63, 58)}/`,
    `https://${nameOf(63, 63, 63, 63)}/`,
    `https://${'a.'.repeat(131)}com/`,
  ],
  'must have a valid host name': urls(`
    https://\u2488example.com/ https://\ud800.com/ https://\u202eexample.com/ https://exam\u200dple.com/
    https://xn--a.com/ https://xn--example.com/ https://example.xn--0/ https://a.xn--99999999.com/`),
  'must have only ASCII after its host': ['https://example.com/caf\u00e9', 'https://example.com/?q=\u212a'],
  'must have two hexadecimal digits after each %': urls(`
    https://example.com/% https://example.com/%2 https://example.com/?a=%zz https://example.com/%u0041`),
  'must be written in its normal form': urls(`
    https://example.com/a/../b https://example.com/. https://example.com/a/%2e%2E/b https://example.com/a/./b
    https://example.com/?a='b' https://example.com/"x" https://example.com/<x> https://example.com/{x}`),
  'must have at most 2048 characters': [
    `https://example.com/${'x'.repeat(2_029)}`,
    `https://example.com?${'x'.repeat(2_028)}`,
    'x'.repeat(1_000_000),
    `https://example.com/${'"'.repeat(2_000)}`,
  ],
};
