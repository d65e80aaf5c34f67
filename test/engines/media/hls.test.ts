import { streamRules } from './stream-rules.ts';
import { streamOf } from './streams.ts';

streamRules(streamOf);
