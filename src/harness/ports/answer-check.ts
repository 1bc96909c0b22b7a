/** What the run's answer must be; a bad one gets one corrective turn, then the end `invalid_result`. */
export interface AnswerCheck {
  readonly shape: 'vision' | 'schema';
  /** undefined when the text is fine, else what is wrong with it, for the model: a clause without a full stop. */
  problemOf(text: string): string | undefined;
}
