/** True for addresses that only this machine can reach. */
export function isLoopbackBind(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
