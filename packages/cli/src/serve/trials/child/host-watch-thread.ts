/** Ends the process when its host is gone, also while its main thread is busy with a run for ever and hears nothing of that. */

const LOOK_MS = 1_000;
const host = process.ppid;

setInterval(() => {
  if (process.ppid !== host) process.kill(process.pid, 'SIGKILL');
}, LOOK_MS);
