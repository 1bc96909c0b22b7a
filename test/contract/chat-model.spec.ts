import { anthropicWire } from '../support/model-wires/anthropic-wire.js';
import { googleWire } from '../support/model-wires/google-wire.js';
import { openAiWire, PROFILES } from '../support/model-wires/openai-wire.js';
import { chatModelContract } from './chat-model.contract.js';

for (const wire of [...PROFILES.map(openAiWire), anthropicWire, googleWire]) chatModelContract(wire);
