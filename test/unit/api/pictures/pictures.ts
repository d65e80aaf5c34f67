import { defaultPicture, type PictureSpec } from '../../../../shared/pictures/picture.ts';

/** Properties that differ from the defaults. */
export interface Changes extends Partial<Omit<PictureSpec, 'resize' | 'padding' | 'flip' | 'limits'>> {
  resize?: Partial<PictureSpec['resize']>;
  padding?: Partial<PictureSpec['padding']>;
  flip?: Partial<PictureSpec['flip']>;
  limits?: Partial<PictureSpec['limits']>;
}

/** Returns the spec with these changes to the defaults. */
export function picture({ resize, padding, flip, limits, ...changes }: Changes = {}): PictureSpec {
  const defaults = defaultPicture();
  return {
    ...defaults,
    ...changes,
    resize: { ...defaults.resize, ...resize },
    padding: { ...defaults.padding, ...padding },
    flip: { ...defaults.flip, ...flip },
    limits: { ...defaults.limits, ...limits },
  };
}
