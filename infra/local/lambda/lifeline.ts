import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { abandonSandbox } from './sandbox-processes.ts';

/** The descriptor of the pipe whose other end the host holds, and the kernel closes when the host ends. */
const LIFELINE = 4;

const lifeline = new Socket({ fd: LIFELINE, readable: true, writable: false });
lifeline.once('close', () => abandonSandbox(workerData));
lifeline.on('error', () => lifeline.destroy());
lifeline.resume();
