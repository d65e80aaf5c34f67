import { noSuchKey, S3Error } from './error.ts';
import { type Handler, malformedXml, readXml, respondEmpty, respondXml } from './request.ts';
import { childrenOf, childText } from './xml.ts';

const maxTags = 10;
const tagText = /^[\p{L}\p{Z}\p{N}_.:/=+@-]*$/u;

export const getObjectTagging: Handler = ({ bucket, key }, res, { store }) => {
  if (!store.find(bucket, key)) throw noSuchKey(key);
  const tags = store.tags(bucket, key).map((tag) => ({ Key: tag.key, Value: tag.value }));
  respondXml(res, 'Tagging', { TagSet: { Tag: tags } });
};

export const putObjectTagging: Handler = async ({ bucket, key, body }, res, { store }) => {
  const [set, ...others] = childrenOf(await readXml(body, 'Tagging'), 'TagSet');
  if (!set || others.length > 0) throw malformedXml();
  const tags = childrenOf(set, 'Tag').map((tag) => {
    const [name, value] = [childText(tag, 'Key'), childText(tag, 'Value')];
    if (name === undefined || value === undefined) throw malformedXml();
    if (name === '' || name.length > 128 || value.length > 256 || !tagText.test(name + value))
      throw new S3Error('InvalidTag', 'The tag you have provided is not valid');
    return { key: name, value };
  });
  if (new Set(tags.map((tag) => tag.key)).size < tags.length)
    throw new S3Error('InvalidTag', 'Cannot provide multiple Tags with the same key');
  if (tags.length > maxTags) throw new S3Error('InvalidTag', `Object tags cannot be greater than ${maxTags}`);
  if (!store.setTags(bucket, key, tags)) throw noSuchKey(key);
  respondEmpty(res);
};
