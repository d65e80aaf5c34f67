// One running service for all of them: starting it takes longer than most of these tests.
import './client-scenarios.ts';
import './cli-scenarios.ts';
import './mcp-scenarios.ts';
import './upload-scenarios.ts';
