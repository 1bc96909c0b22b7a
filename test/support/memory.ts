import { readFileSync } from 'node:fs';

/** Resident memory of a process now, bytes. */
export function residentBytes(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

/** Watches the resident memory of a process. */
export class MemoryWatch {
  private highest: number;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.highest = residentBytes(pid);
    this.timer = setInterval(() => this.look(), 25);
  }

  /** Ends the watching; the most that was seen, bytes. */
  stop(): number {
    clearInterval(this.timer);
    this.look();
    return this.highest;
  }

  private look(): void {
    this.highest = Math.max(this.highest, residentBytes(this.pid));
  }
}
