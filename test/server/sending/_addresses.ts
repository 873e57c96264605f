/** Addresses by what they are, from texts with blanks between them. */
function byKind(texts: Record<string, string>): [address: string, what: string][] {
  return Object.entries(texts).flatMap(([what, text]) =>
    text
      .trim()
      .split(/\s+/)
      .map((address): [string, string] => [address, what]),
  );
}

/** Addresses that a webhook may call: public ones, and the neighbours of every block that isn't. */
export const publicAddresses = byKind({
  'a public address': '1.1.1.1 8.8.8.8 11.255.255.255 2001:4860:4860::8888 2606:4700:4700::1111',
  'beside this network, or multicast': '1.0.0.0 223.255.255.255',
  'beside what RFC 1918 keeps private': `9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0`,
  'beside CGNAT, or loopback': '100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0',
  'beside the services of Azure, or link-local': '168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0',
  'beside protocol assignments, or the 6to4 relay': '191.255.255.255 192.0.1.0 192.88.98.255 192.88.100.0',
  'beside benchmarks, or documentation': `192.0.3.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255
    203.0.114.0 2001:db7:ffff::1 2001:db9::1 3ffe:ffff:ffff::1 3fff:1000::1`,
  'at an end of 2000::/3': '2000::1 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'beside 2001::/23, or 6to4': '2001:200::1 2003::1',
  'of the old 6bone, which was returned': '3ffe::1',
  'beside ISATAP': '2606:4700:0:0:0:5eff:808:808 2606:4700:0:0:100:5efe:808:808',
  'NAT64 of a public address': '64:ff9b::808:808 64:ff9b::8.8.8.8 64:ff9b::9ff:ffff 64:ff9b::b00:0',
});

/** Addresses that no webhook may call. */
export const closedAddresses = byKind({
  'this network, which reaches loopback on Linux': '0.0.0.0 0.0.0.1 0.255.255.255 ::',
  'private by RFC 1918': `10.0.0.0 10.255.255.255 172.16.0.0 172.17.0.1 172.31.255.254 172.31.255.255 192.168.0.0
    192.168.0.1 192.168.255.255`,
  CGNAT: '100.64.0.0 100.127.255.255',
  loopback: '127.0.0.0 127.0.0.1 127.0.0.53 127.255.255.255 ::1',
  'link-local': '169.254.0.0 169.254.255.255 fe80::1 febf::1',
  'metadata or services of a cloud': `100.100.100.200 168.63.129.16 169.254.169.253 169.254.169.254 169.254.170.2
    192.0.0.192 fd00:ec2::254 fd20:ce::254`,
  'protocol assignments':
    '192.0.0.0 192.0.0.1 192.0.0.255 2001:1ff:ffff::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  documentation: `192.0.2.1 192.0.2.255 198.51.100.7 203.0.113.9 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
    3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff`,
  'the 6to4 relay': '192.88.99.1',
  benchmarks: '198.18.0.0 198.18.0.1 198.19.255.255',
  'multicast, class E and broadcast': `224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.254 255.255.255.255 ff01::1
    ff02::1 ff05::2 ff0e::1`,
  'compatible with IPv4, whatever it carries': '::7f00:1 ::8.8.8.8',
  'mapped IPv4, whatever it carries':
    '::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:10.0.0.1 ::ffff:8.8.8.8',
  'SIIT, whatever it carries': '::ffff:0:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:7f00:1',
  'ISATAP, whatever it carries': `::5efe:7f00:1 2001:4860:0:0:0:5efe:7f00:1 2606:4700:0:0:200:5efe:808:808`,
  'NAT64 of a closed address': `64:ff9b:: 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::6440:0 64:ff9b::ac10:1
    64:ff9b::c0a8:1 64:ff9b::a83f:8110 64:ff9b::a9fe:a9fe 64:ff9b::e000:1 64:ff9b::ffff:ffff`,
  'beside NAT64': '64:ff9a:ffff:ffff:ffff:ffff:808:808 64:ff9b::1:808:808',
  'local NAT64 (RFC 8215), whatever it carries': `64:ff9b:1::1 64:ff9b:1::808:808
    64:ff9b:1:ffff:ffff:ffff:7f00:1`,
  'discard-only, and the dummy prefix of RFC 9780': '100:: 100::1 100:0:0:1::1',
  'outside 2000::/3': '200::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: 4000::1 5f00::1',
  'Teredo, whatever it carries': '2001:: 2001::1 2001:0:4136:e378:8000:63bf:80ff:fffe',
  ORCHID: '2001:10::1 2001:20::1',
  '6to4, whatever it carries': `2002:: 2002:7f00:1::1 2002:a9fe:a9fe::1 2002:a00:1::1 2002:808:808::1
    2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff`,
  'unique local': 'fc00::1 fd00::1 fd7a:115c:a1e0::1',
  'site-local, or reserved': 'fe00::1 fec0::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
});

/** Texts that some programs take for an address. The service knows only the usual form of one. */
export const noAddresses: readonly string[] = [
  ...['', 'example.com', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '8.8.8', ' 8.8.8.8', '8.8.8.8 '],
  ...['8.8.8.8:443', '8.8.8.8/32', '[2606:4700:4700::1111]', '2606:4700:4700::1111%eth0'],
  '2606:4700::4700::1111',
];
