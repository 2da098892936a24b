// Handles the submission of a form in the window itself, so that the page is never left.

export function submits(work: () => unknown): (event: SubmitEvent) => void {
  return (event) => {
    event.preventDefault();
    void work();
  };
}
