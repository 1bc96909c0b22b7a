import { AddressRules, isPublicAddress } from '../../src/outgoing/address-rules.js';

const rules = (lists: { allowHosts?: string[]; allowPrivateHosts?: string[] } = {}): AddressRules =>
  new AddressRules({ allowHosts: [], allowPrivateHosts: [], ...lists });

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.0.1',
    '100.64.0.1',
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:168.63.129.16',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2002:808:808::',
    '2001::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    'localhost',
    '',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('AddressRules', () => {
  it('without lists allows public addresses of any host and no other', () => {
    const target = { host: 'cdn.example.com', port: 443 };
    expect(rules().allows(target, '8.8.8.8')).toBe(true);
    expect(rules().allows(target, '127.0.0.1')).toBe(false);
    expect(rules().allows(target, 'not an address')).toBe(false);
  });

  it('keeps public addresses to the hosts of allowHosts', () => {
    const listed = rules({ allowHosts: ['cdn.example.com', 'other.example.com:8443'] });
    expect(listed.allows({ host: 'cdn.example.com', port: 80 }, '8.8.8.8')).toBe(true);
    expect(listed.allows({ host: 'CDN.example.com.', port: 80 }, '8.8.8.8')).toBe(true);
    expect(listed.allows({ host: 'other.example.com', port: 8443 }, '8.8.8.8')).toBe(true);
    expect(listed.allows({ host: 'other.example.com', port: 443 }, '8.8.8.8')).toBe(false);
    expect(listed.allows({ host: 'evil.example.com', port: 80 }, '8.8.8.8')).toBe(false);
    expect(listed.allows({ host: 'cdn.example.com', port: 80 }, '10.0.0.1')).toBe(false);
  });

  it('opens private addresses to the hosts of allowPrivateHosts, with their port when it is named', () => {
    const listed = rules({ allowPrivateHosts: ['127.0.0.1:3000', 'images.internal', '::1', '[fd00::5]:9000'] });
    expect(listed.allows({ host: '127.0.0.1', port: 3000 }, '127.0.0.1')).toBe(true);
    expect(listed.allows({ host: '127.0.0.1', port: 3306 }, '127.0.0.1')).toBe(false);
    expect(listed.allows({ host: 'images.internal', port: 80 }, '10.1.2.3')).toBe(true);
    expect(listed.allows({ host: 'elsewhere.internal', port: 80 }, '10.1.2.3')).toBe(false);
    expect(listed.allows({ host: '[::1]', port: 80 }, '::1')).toBe(true);
    expect(listed.allows({ host: 'fd00::5', port: 9000 }, 'fd00::5')).toBe(true);
    expect(listed.allows({ host: 'fd00::5', port: 9001 }, 'fd00::5')).toBe(false);
    expect(listed.allows({ host: '[::ffff:7f00:1]', port: 3000 }, '::ffff:127.0.0.1')).toBe(false);
  });

  it('lets no name lead to a metadata address, only the address itself when it is listed', () => {
    const listed = rules({ allowPrivateHosts: ['images.internal', '169.254.169.254'] });
    expect(listed.allows({ host: 'images.internal', port: 80 }, '169.254.169.254')).toBe(false);
    expect(listed.allows({ host: 'images.internal', port: 80 }, '::ffff:169.254.169.254')).toBe(false);
    expect(listed.allows({ host: '169.254.169.254', port: 80 }, '169.254.169.254')).toBe(true);
  });

  it.each(['http://host', 'host:port', 'a b', '', 'user@host', 'host/path'])('refuses the entry %j', (entry) => {
    expect(() => rules({ allowHosts: [entry] })).toThrow('"host" or "host:port"');
  });
});
