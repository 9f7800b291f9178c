const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for HTML and XML. */
export const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!);
