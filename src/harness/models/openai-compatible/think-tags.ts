const OPEN = '<think>';
const CLOSE = '</think>';

interface SplitText {
  readonly text: string;
  readonly thinking: string;
}

/**
 * Splits the thinking that some servers put between `<think>` tags at the start of an answer from its text.
 * Tags are never shown; line breaks between thinking and text belong to neither.
 */
export class ThinkTagSplitter {
  private phase: 'start' | 'thinking' | 'gap' | 'text' = 'start';
  private held = '';

  push(piece: string): SplitText {
    this.held += piece;
    if (this.phase === 'start') this.leaveStart();
    const thinking = this.phase === 'thinking' ? this.takeThinking() : '';
    if (this.phase === 'gap') this.leaveGap();
    return { thinking, text: this.phase === 'text' ? this.takeAll() : '' };
  }

  /** Tells that thinking came on its own channel: the text starts without line breaks. */
  sawThinking(): void {
    if (this.phase === 'start' && this.held === '') this.phase = 'gap';
  }

  /** What was held back, at the end of the answer. */
  flush(): SplitText {
    const rest = this.takeAll();
    if (this.phase === 'thinking') return { thinking: rest, text: '' };
    return { thinking: '', text: this.phase === 'gap' ? '' : rest };
  }

  private leaveStart(): void {
    const begin = this.held.trimStart();
    if (begin.startsWith(OPEN)) {
      this.phase = 'thinking';
      this.held = begin.slice(OPEN.length).replace(/^[\r\n]+/, '');
    } else if (!OPEN.startsWith(begin)) {
      this.phase = 'text';
    }
  }

  private takeThinking(): string {
    const end = this.held.indexOf(CLOSE);
    if (end >= 0) {
      const thinking = this.held.slice(0, end);
      this.held = this.held.slice(end + CLOSE.length);
      this.phase = 'gap';
      return thinking;
    }
    // The end may be the beginning of the closing tag.
    let keep = Math.min(this.held.length, CLOSE.length - 1);
    while (!this.held.endsWith(CLOSE.slice(0, keep))) keep -= 1;
    const thinking = this.held.slice(0, this.held.length - keep);
    this.held = this.held.slice(this.held.length - keep);
    return thinking;
  }

  private leaveGap(): void {
    this.held = this.held.trimStart();
    if (this.held !== '') this.phase = 'text';
  }

  private takeAll(): string {
    const all = this.held;
    this.held = '';
    return all;
  }
}
