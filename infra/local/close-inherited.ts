import { closeInherited } from '../../packages/runtime-client/src/close-inherited.ts';

// For `node --import`: a child of this process starts with the files of its database open.
closeInherited();
