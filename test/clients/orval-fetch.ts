/** How orval's client calls: it has no setting for the address and the token of its own. */
export const service = { url: '', token: '' };

export async function orvalFetch<T>(path: string, init: RequestInit): Promise<T> {
  const headers = new Headers(init.headers);
  if (service.token !== '') headers.set('Authorization', `Bearer ${service.token}`);
  const response = await fetch(service.url + path, { ...init, headers });
  return { status: response.status, data: await response.json(), headers: response.headers } as T;
}
