/** What is shown in place of a secret. */
export const HIDDEN = '***';

const SECRET_WORD = /^(password|passwd|passphrase|secrets?|credentials?|authorization|cookies?|apikey|signature)$/;
const SECRET_ENDING = /(^|_)((api|access|private|auth|model|signing|encryption|client)_keys?|(?<!page_)token|pass)$/;

/** `X-Api-Key`, `apiKey`, `API_KEY` → `x_api_key`, `api_key`, `api_key` */
function words(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s]/g, '_')
    .toLowerCase();
}

/**
 * True when a field or variable of this name may hold a secret: `apiKey`, `Authorization`, `BRIDLE_MODEL_APIKEY`.
 * Counts and positions are not: `inputTokens`, `page_token`, `stepKey`.
 */
export function isSecretName(name: string): boolean {
  const plain = words(name);
  return SECRET_ENDING.test(plain) || plain.split('_').some((word) => SECRET_WORD.test(word));
}
