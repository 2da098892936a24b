// The handler of a form whose sending is the window's own work: the page is never left.

export function submits(work: () => unknown): (event: SubmitEvent) => void {
  return (event) => {
    event.preventDefault();
    void work();
  };
}
