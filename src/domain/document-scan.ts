/** The scan of an uploaded document, as a scanner implements it. */

/** The scan of one document for malware. */
export interface DocumentScan {
  /** @throws AppError BUSY when the scanner is away. */
  take(piece: Buffer): Promise<void>;
  /**
   * Ends the document.
   * @returns whether the scanner has found nothing.
   * @throws AppError BUSY when the scanner is away, or has not scanned it.
   */
  isClean(): Promise<boolean>;
  /** Gives the scan up; after its end it does nothing. */
  close(): void;
}

/** Begins the scan of a document. */
export type OpenScan = () => DocumentScan;
