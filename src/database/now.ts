/** MySQL and MariaDB: the time by which leases are judged, epoch milliseconds, as a term of a statement. */
export const MYSQL_NOW_MS = 'CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)';
