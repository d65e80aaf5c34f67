/** Returns a token bucket that decides whether each request is within the rate and burst of API Gateway. */
export function createThrottle(
  { rate, burst }: { rate: number; burst: number },
  now: () => number = () => performance.now(),
): () => boolean {
  let tokens = burst;
  let filledAt = now();
  return () => {
    const time = now();
    tokens = Math.min(burst, tokens + ((time - filledAt) / 1000) * rate);
    filledAt = time;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
