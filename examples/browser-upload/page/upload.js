const form = document.querySelector('form');
const progress = document.querySelector('progress');
const status = document.querySelector('[role=status]');

/** Asks the server for a job. */
async function begin(to) {
  const response = await fetch(`conversions?to=${encodeURIComponent(to)}`, { method: 'POST' });
  const body = await response.json();
  if (!response.ok) throw new Error(body.msg);
  return body;
}

/** Posts the file to the form, straight to the bucket. fetch cannot report the progress of an upload. */
function upload({ url, parameters }, file) {
  return new Promise((resolve, reject) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(parameters)) data.append(name, value);
    data.append('file', file, file.name); // must be the last field
    const request = new XMLHttpRequest();
    request.upload.onprogress = ({ loaded, total }) => show(`Uploading ${file.name}`, loaded / total);
    request.onload = () => {
      if (request.status < 300) return resolve();
      const message = /<Message>([^<]*)/.exec(request.responseText)?.[1];
      reject(new Error(message ?? `The upload failed with ${request.status}.`));
    };
    request.onerror = () => reject(new Error('The upload was interrupted.'));
    request.open('POST', url);
    request.send(data);
  });
}

/** Returns the tasks of a job by name once they have ended, and shows its progress until then. */
function follow(job, url) {
  return new Promise((resolve, reject) => {
    const tasks = new Map();
    let failures = 0;
    const connect = () => {
      const socket = new WebSocket(url);
      socket.onopen = () => socket.send(JSON.stringify({ action: 'subscribe', channel: `job.${job}` }));
      socket.onmessage = ({ data }) => {
        const { event, data: subject } = JSON.parse(data);
        failures = 0;
        if (event === 'error') return end(() => reject(new Error(subject.msg)));
        if (event?.startsWith('task_')) {
          // Events can be sent again after a reconnection; the version never decreases.
          if (subject.version < (tasks.get(subject.name)?.version ?? 0)) return;
          tasks.set(subject.name, subject);
          if (subject.name === 'result' && subject.status === 'processing')
            show('Converting', (subject.progress ?? 0) / 100);
        }
        const failed = [...tasks.values()].find((task) => task.status === 'failed');
        if (failed) end(() => reject(new Error(failed.result.msg)));
        else if (tasks.get('link')?.status === 'completed') end(() => resolve(tasks));
      };
      // The current state is sent on subscribing, so nothing is missed in between.
      socket.onclose = () => {
        failures += 1;
        if (failures > 8) reject(new Error('The connection is lost.'));
        else setTimeout(connect, Math.min(1_000 * 2 ** failures, 15_000));
      };
      const end = (settle) => {
        socket.onclose = null;
        socket.close();
        settle();
      };
    };
    connect();
  });
}

function show(text, part) {
  status.textContent = text;
  progress.hidden = part === undefined;
  if (part !== undefined) progress.value = part;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const file = form.elements.file.files[0];
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const { job, form: uploadForm, events } = await begin(form.elements.to.value);
    const followed = follow(job, events);
    followed.catch(() => {}); // an upload that fails is reported first
    await upload(uploadForm, file);
    const [result] = (await followed).get('link').result.files;
    show('');
    const link = document.createElement('a');
    link.href = result.url;
    link.download = result.filename;
    link.textContent = `Download ${result.filename}`;
    status.append(link);
  } catch (error) {
    show(error.message);
  } finally {
    button.disabled = false;
  }
});
