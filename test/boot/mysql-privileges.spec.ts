import { missingPrivileges } from '../../src/boot/mysql-privileges.js';

const USAGE = "GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*1'";

describe('missingPrivileges', () => {
  it.each([
    ['everything, everywhere', ['GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION']],
    ['everything on the schema', [USAGE, 'GRANT ALL PRIVILEGES ON `bridle`.* TO `u`@`%`']],
    [
      'what we need, in two lines',
      ['GRANT SELECT, INSERT ON *.* TO `u`@`%`', 'GRANT UPDATE, DELETE, CREATE, ALTER, INDEX ON `bridle`.* TO `u`@`%`'],
    ],
    ['a pattern', ['GRANT ALL PRIVILEGES ON `brid%`.* TO `u`@`%`']],
    ['a pattern of one letter', ['GRANT ALL PRIVILEGES ON `bri_le`.* TO `u`@`%`']],
    ['a role, whose grants are not shown', ['GRANT `app` TO `u`@`%`', USAGE]],
  ])('is nothing with %s', (_what, grants) => {
    expect(missingPrivileges(grants, 'bridle', true)).toEqual([]);
  });

  it('names what is missing to work, and to migrate where there is something to migrate', () => {
    const grants = [USAGE, 'GRANT SELECT, INSERT, UPDATE ON `bridle`.* TO `u`@`%`'];
    expect(missingPrivileges(grants, 'bridle', false)).toEqual(['DELETE']);
    expect(missingPrivileges(grants, 'bridle', true)).toEqual(['DELETE', 'CREATE', 'ALTER', 'INDEX']);
  });

  it.each([
    ['another schema', 'GRANT ALL PRIVILEGES ON `other`.* TO `u`@`%`'],
    ['a schema whose name is a plain text', 'GRANT ALL PRIVILEGES ON `bri\\_le`.* TO `u`@`%`'],
    ['a name with a dot for any letter', 'GRANT ALL PRIVILEGES ON `bri.le`.* TO `u`@`%`'],
    ['one table', 'GRANT SELECT ON `bridle`.`runs` TO `u`@`%`'],
  ])('does not count %s', (_what, grant) => {
    expect(missingPrivileges([USAGE, grant], 'bridle', false)).toEqual(['SELECT', 'INSERT', 'UPDATE', 'DELETE']);
  });

  it('reads a name with an escaped letter', () => {
    expect(missingPrivileges(['GRANT ALL PRIVILEGES ON `my\\_app`.* TO `u`@`%`'], 'my_app', true)).toEqual([]);
  });
});
