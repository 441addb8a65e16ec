/** Reads an OpenAPI document and resolves its references. */

/** An object of the document and its JSON pointer, after references. */
export interface Place {
  readonly value: Readonly<Record<string, unknown>>;
  readonly pointer: readonly string[];
}

/** The document as a tree of {@link Place}. */
export class OpenApiDocument {
  readonly root: Place;

  /** @throws Error when the document is no object. */
  constructor(document: unknown) {
    if (!isObject(document)) throw new Error('the contract is not an OpenAPI document');
    this.root = { value: document, pointer: [] };
  }

  /**
   * Finds the object under a chain of keys, following references.
   * @returns null when there is none.
   */
  find(from: Place, ...keys: readonly string[]): Place | null {
    let place: Place | null = from;
    for (const key of keys) {
      if (place === null) return null;
      place = this.#child(place, key);
    }
    return place;
  }

  /** The objects under an object or a list, with their keys. */
  entries(from: Place | null): { readonly key: string; readonly place: Place }[] {
    if (from === null) return [];
    return Object.keys(from.value).flatMap((key) => {
      const place = this.#child(from, key);
      return place === null ? [] : [{ key, place }];
    });
  }

  #child(parent: Place, key: string): Place | null {
    const value = parent.value[key];
    if (!isObject(value)) return null;
    return this.#resolve({ value, pointer: [...parent.pointer, key] });
  }

  /** Resolves a reference; the validator itself resolves those within schemas. */
  #resolve(place: Place): Place {
    const { $ref } = place.value;
    if (typeof $ref !== 'string') return place;
    if (!$ref.startsWith('#/')) throw new Error(`the reference ${$ref} leaves the contract`);
    const keys = $ref.slice(2).split('/').map(referencedKey);
    const target = this.find(this.root, ...keys);
    if (target === null) throw new Error(`the reference ${$ref} leads nowhere`);
    return target;
  }
}

/** The path of the first server: the prefix of every route. */
export function basePath(document: OpenApiDocument): string {
  const server = document.find(document.root, 'servers', '0');
  const template = typeof server?.value['url'] === 'string' ? server.value['url'] : '/';
  const url = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const variable = server && document.find(server, 'variables', name);
    const value = variable?.value['default'];
    return typeof value === 'string' ? value : '';
  });
  return new URL(url, 'http://localhost').pathname.replace(/\/+$/, '');
}

function referencedKey(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
