// Shows failures in the page.
import { button, element, show } from './dom';

/** Shows an error until it is dismissed. */
export function showError(error: unknown): void {
  show('error-text', error instanceof Error ? error.message : String(error));
  element('error', HTMLDivElement).hidden = false;
}

/** Hides the error that is shown. */
export function clearError(): void {
  element('error', HTMLDivElement).hidden = true;
}

button('error-close').addEventListener('click', clearError);
addEventListener('error', ({ error, message }) => showError(error ?? message));
addEventListener('unhandledrejection', ({ reason }) => showError(reason));
