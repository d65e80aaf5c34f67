import type { OptionValues } from '../../../shared/catalogue/options.ts';

export const moments = ['domcontentloaded', 'load', 'networkidle2', 'networkidle0'] as const;
export type WaitUntil = (typeof moments)[number];

/** How a page is loaded, for any output. */
export interface LoadOptions {
  viewportWidth?: number | undefined;
  viewportHeight?: number | undefined;
  /** Device pixels per pixel of the page. */
  deviceScale?: number | undefined;
  waitUntil?: WaitUntil | undefined;
  /** Seconds to wait after loading. */
  initialDelay?: number | undefined;
  hideCookie?: boolean | undefined;
  usePrintStylesheet?: boolean | undefined;
}

/** The area that a page is laid out for, in pixels of the page, and device pixels per pixel of the page. */
export interface Viewport {
  width: number;
  height: number;
  deviceScaleFactor: number;
}

export const usualViewport: Viewport = { width: 1440, height: 900, deviceScaleFactor: 1 };

export function viewportOf({ viewportWidth, viewportHeight, deviceScale }: LoadOptions): Viewport {
  return {
    width: viewportWidth ?? usualViewport.width,
    height: viewportHeight ?? usualViewport.height,
    deviceScaleFactor: deviceScale ?? usualViewport.deviceScaleFactor,
  };
}

export interface ImageTarget {
  format: 'png' | 'jpg' | 'webp';
  fullPage: boolean;
  quality?: number | undefined;
  /** Options of the image, if it is processed further. */
  picture?: OptionValues | undefined;
}

export const pageSizes = ['A0', 'A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'Letter', 'Legal', 'Tabloid', 'Ledger'] as const;
export type PageSize = (typeof pageSizes)[number];

export const sides = ['top', 'right', 'bottom', 'left'] as const;
export type Margins = Record<(typeof sides)[number], number>;

export interface PdfTarget {
  format: 'pdf';
  /** Whether the size, orientation and margins in the page's styles apply if none are given here. */
  followsPage?: boolean | undefined;
  pageSize?: PageSize | undefined;
  orientation?: 'portrait' | 'landscape' | undefined;
  /** Millimetres. */
  margins?: Partial<Margins> | undefined;
  /** HTML in the margins of each page. */
  header?: string | undefined;
  footer?: string | undefined;
  /** Whether a page that is wider than the paper is shrunk until it fits. */
  shrinkToFit?: boolean | undefined;
  scale?: number | undefined;
  printBackground?: boolean | undefined;
  /** Whether the structure of the page is added for screen readers. Defaults to true. */
  isTagged?: boolean | undefined;
  /** Lays the page out for this width and scales it to the paper. */
  layoutWidth?: number | undefined;
}
