import { toAuditRequest } from '../../../src/transport/run-payload/run-view.js';

describe('a request of a run', () => {
  it('shows each picture with every key, null where nothing is known yet', () => {
    const request = toAuditRequest({
      requestId: 'req-1',
      action: 'message',
      mode: 'queue',
      text: '去掉条形码',
      resources: [
        {
          index: 0,
          resourceId: 'cover-v1',
          sourceType: 'url',
          sourceUrl: 'https://cdn.example.com/cover.png',
          sha256: null,
          mimeType: null,
          width: null,
          height: null,
          bytes: null,
        },
      ],
      receivedAt: Date.UTC(2026, 7, 17, 10),
      actor: 'local',
      disposition: 'started',
      appliedAtEvent: 1,
    });
    expect(request).toEqual({
      request_id: 'req-1',
      action: 'message',
      mode: 'queue',
      text: '去掉条形码',
      resources: [
        {
          index: 0,
          resource_id: 'cover-v1',
          source_type: 'url',
          url: 'https://cdn.example.com/cover.png',
          width: null,
          height: null,
          mime_type: null,
          bytes: null,
          sha256: null,
          url_expires_at: null,
        },
      ],
      received_at: '2026-08-17T10:00:00.000Z',
      actor: 'local',
      disposition: 'started',
      applied_at_event: 1,
    });
  });
});
