/** Shell text that runs as it is, by operation id; each begins from nothing. */
export type CodeSamples = Readonly<Record<string, string>>;

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const JSON_TYPE = "-H 'content-type: application/json'";

/** @param base where the server is reached, without a trailing slash */
export function codeSamples(base: string): CodeSamples {
  const idOf = (field: string): string => `sed 's/.*"${field}":"\\([^"]*\\)".*/\\1/'`;
  const session = `SID=$(curl -s ${base}/v1/sessions ${JSON_TYPE} -d '{"client_reference":"docs"}' | ${idOf('id')})`;
  const message = (fields: string): string =>
    `-d '{"session_id":"'$SID'","request_id":"req-1","action":"message",${fields}}'`;
  const run = `${session}
RID=$(curl -s ${base}/v1/actions ${JSON_TYPE} ${message('"text":"hello"')} | ${idOf('run_id')})`;
  const bytes = `printf '${PICTURE}' | base64 -d`;
  return {
    listAgents: `curl -s ${base}/v1/agents`,
    createSession: `curl -s ${base}/v1/sessions ${JSON_TYPE} -d '{"capabilities":["vision"],"client_reference":"order-1001"}'`,
    listSessions: `curl -s '${base}/v1/sessions?limit=5'`,
    getSession: `${session}
curl -s ${base}/v1/sessions/$SID`,
    deleteSession: `${session}
curl -s -X DELETE ${base}/v1/sessions/$SID`,
    act: `${session}
curl -sN ${base}/v1/actions ${JSON_TYPE} -H 'accept: text/event-stream' ${message(
      `"text":"What is this?","resources":[{"data":"${PICTURE}"}]`,
    )}`,
    getRun: `${run}
curl -s "${base}/v1/sessions/$SID/runs/$RID?wait_ms=5000"`,
    streamRun: `${run}
curl -sN ${base}/v1/sessions/$SID/runs/$RID/events`,
    harnessRuntimeRunSse: `USR=docs-$(date +%s)
curl -s -o /dev/null ${base}/apps/harness_agent/users/$USR/sessions/s1 -X POST
curl -sN ${base}/run_sse ${JSON_TYPE} \\
  -d '{"app_name":"harness_agent","user_id":"'$USR'","session_id":"s1","new_message":{"role":"user","parts":[{"text":"Hello"}]},"streaming":true}'`,
    putResource: `${session}
${bytes} | curl -s -X PUT ${base}/v1/sessions/$SID/resources/dot -H 'content-type: image/png' --data-binary @-`,
  };
}
