import AwsS3 from '@uppy/aws-s3';
import Uppy from '@uppy/core';

const form = document.querySelector('form');
const pause = form.elements.pause;
const progress = document.querySelector('progress');
const status = document.querySelector('[role=status]');

async function call(path, options) {
  const response = await fetch(path, options);
  const body = await response.json();
  if (!response.ok) throw new Error(body.msg);
  return body;
}

/** Uploads a file, above 100 MB in parts that survive a lost connection. */
async function upload(endpoint, file) {
  const uppy = new Uppy({ restrictions: { maxNumberOfFiles: 1 } }).use(AwsS3, {
    companionEndpoint: endpoint,
    shouldUseMultipart: ({ size }) => size === null || size > 100_000_000,
  });
  uppy.on('progress', (percent) => show(`Uploading ${file.name}`, percent));
  pause.onclick = () => {
    const isPaused = pause.textContent === 'Resume';
    if (isPaused) uppy.resumeAll();
    else uppy.pauseAll();
    pause.textContent = isPaused ? 'Pause' : 'Resume';
  };
  pause.hidden = false;
  try {
    uppy.addFile({ name: file.name, type: file.type, data: file });
    const { failed } = await uppy.upload();
    if (failed?.length) throw new Error(failed[0].error ?? 'The upload failed.');
  } finally {
    pause.hidden = true;
    uppy.destroy();
  }
}

/** Waits for the end of a conversion, and returns its file. */
async function resultOf(conversion) {
  for (;;) {
    const { ended, status: state, progress: percent, file, problem } = await call(`conversions/${conversion}`);
    if (problem) throw new Error(problem.msg);
    if (ended && file) return file;
    if (ended) throw new Error(`The conversion is ${state}.`);
    show('Converting', percent ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function show(text, percent) {
  status.textContent = text;
  progress.hidden = percent === undefined;
  if (percent !== undefined) progress.value = percent;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const to = encodeURIComponent(form.elements.to.value);
    const { conversion, endpoint } = await call(`conversions?to=${to}`, { method: 'POST' });
    await upload(endpoint, form.elements.file.files[0]);
    const { url, filename } = await resultOf(conversion);
    show('');
    const link = document.createElement('a');
    link.href = url;
    link.download = filename;
    link.textContent = `Download ${filename}`;
    status.append(link);
  } catch (error) {
    show(error.message);
  } finally {
    button.disabled = false;
  }
});
