/* The documents of an application: one file after another, with its progress. */
import { uploadDocument } from './api.js';
import { areDocumentsDone, goOn, show, stepPath } from './onboarding.js';
import { byId, element, showErrors } from './page.js';
import { sampleDocument } from './sample.js';

const documents = byId('documents');

documents.addEventListener('submit', async (event) => {
  event.preventDefault();
  const chosen = byId('arquivo').files;
  const areStored = await uploadAll([...chosen]);
  // Another file may have been chosen meanwhile.
  if (areStored && byId('arquivo').files[0] === chosen[0]) byId('arquivo').value = '';
});

byId('sample-documents').addEventListener('click', async () => {
  showErrors(documents, null);
  for (const kind of ['1', '5', '6']) if (!(await upload(sampleDocument(kind), kind))) return;
});

/** @returns whether all of them are stored. */
async function uploadAll(files) {
  showErrors(documents, null);
  if (files.length === 0) showErrors(documents, noFile);
  let stored = 0;
  for (const file of files) if (await upload(file, byId('tipo_documento').value)) stored += 1;
  return stored === files.length;
}

const noFile = {
  status: 422,
  body: { errors: { arquivo: ['Choose a file.'] } },
};

async function upload(file, kind) {
  const progress = element('progress', {
    max: 1,
    value: 0,
    'aria-label': `Upload of ${file.name}`,
  });
  const words = element('span', { role: 'status' }, 'uploading');
  byId('uploads').prepend(element('li', {}, `${file.name} `, progress, ' ', words));
  const response = await uploadDocument({
    path: stepPath('/documents'),
    kind,
    file,
    onProgress: (share) => (progress.value = share),
  });
  const isStored = response.status === 201;
  words.textContent = isStored ? 'stored' : 'refused';
  // A full bar would look like a success.
  progress.hidden = !isStored;
  if (isStored) showStored(response.body);
  else showErrors(documents, response);
  return isStored;
}

/** With the last document the next step follows. */
function showStored(application) {
  if (areDocumentsDone(application)) goOn(application, 'documents');
  else show(application);
}

const target = byId('drop');

for (const name of ['dragenter', 'dragover']) {
  target.addEventListener(name, (event) => {
    event.preventDefault();
    target.classList.add('over');
  });
}
for (const name of ['dragleave', 'drop']) {
  target.addEventListener(name, () => target.classList.remove('over'));
}
target.addEventListener('drop', (event) => {
  event.preventDefault();
  void uploadAll([...event.dataTransfer.files]);
});
