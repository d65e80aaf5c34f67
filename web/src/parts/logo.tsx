/** Draws the logo: square stock in the chuck on the left, turned to a round profile on the right. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="currentcolor" />
      <path
        class="cut"
        d="M4 9h9v14H4zM14.5 9.2C18 9.6 18.5 12.6 21 12.6s3-1.6 4.6-1.6A2.4 2.4 0 0 1 28 13.4v5.2a2.4 2.4 0 0 1-2.4 2.4c-1.6 0-2.1-1.6-4.6-1.6s-3 3-6.5 3.4z"
      />
    </svg>
  );
}

/** Draws a workpiece between the centres of a lathe, half of it turned. */
export function Workpiece() {
  return (
    <svg
      viewBox="0 0 120 56"
      fill="none"
      stroke="currentcolor"
      stroke-width="2.5"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d="M2 20h12v16H2zM118 22v12l-12-6z" fill="currentcolor" />
      <path d="M14 10h34v36H14z" fill="currentcolor" fill-opacity="0.18" />
      <path
        d="M48 10c10 0 9 12 18 12s9-6 17-6 11 6 11 12-3 12-11 12-8-6-17-6-8 12-18 12z"
        fill="currentcolor"
        fill-opacity="0.18"
      />
      <path d="M62 54l6-10 6 10z" fill="currentcolor" />
    </svg>
  );
}
