import { closeInherited } from '../../packages/runtime-client/src/close-inherited.ts';

// For `node --import`: child processes inherit the open files of this process's database.
closeInherited();
