/** What the run's answer must be; a bad one gets one corrective turn, then the end `invalid_result`. */
export interface AnswerCheck {
  readonly shape: 'vision' | 'schema';
  /** undefined when the text is fine, else the sentence that tells the model what to mend. */
  problemOf(text: string): string | undefined;
}
