import { deleteObject, deleteObjects } from './delete-objects.ts';
import { getObject } from './get-object.ts';
import { listObjects } from './list-objects.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
  uploadPartCopy,
} from './multipart.ts';
import type { S3Operation } from './operations.ts';
import { assertBucket, copyObject, putObject } from './put-object.ts';
import { type CreationListener, type Handler, respondEmpty, respondXml, type S3Service } from './request.ts';
import type { ObjectStore } from './store.ts';
import { getObjectTagging, putObjectTagging } from './tagging.ts';

/** Creates the embedded S3 over the store. */
export function createS3(store: ObjectStore, region: string): S3Service {
  let notify: CreationListener = () => undefined;
  const context = { store, region, created: (...event: Parameters<CreationListener>) => notify(...event) };
  return {
    async handle(request, res) {
      assertBucket(store, request.bucket);
      await handlers[request.operation](request, res, context);
    },
    onCreated(listener) {
      notify = listener;
    },
    forms: store,
    close: () => store.close(),
  };
}

const handlers: Record<S3Operation, Handler> = {
  HeadBucket: (_request, res) => respondEmpty(res),
  GetBucketLocation: (_request, res, { region }) =>
    // us-east-1 has an empty location constraint.
    respondXml(res, 'LocationConstraint', region === 'us-east-1' ? '' : region),
  ListObjects: listObjects,
  ListObjectsV2: listObjects,
  DeleteObjects: deleteObjects,
  GetObject: getObject,
  HeadObject: getObject,
  PutObject: putObject,
  CopyObject: copyObject,
  DeleteObject: deleteObject,
  CreateMultipartUpload: createMultipartUpload,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
  CompleteMultipartUpload: completeMultipartUpload,
  AbortMultipartUpload: abortMultipartUpload,
  ListParts: listParts,
  ListMultipartUploads: listMultipartUploads,
  GetObjectTagging: getObjectTagging,
  PutObjectTagging: putObjectTagging,
};
