// The whole of a matrix that does not fit, small, with a frame around what is in sight. A press or a drag goes there.

class Minimap {
  constructor(matrix) {
    this.matrix = matrix;
    const go = (event) => event.buttons && this.go(event);
    this.canvas = make("canvas", { class: "minimap", role: "img", "aria-label": "The whole matrix, small", onpointerdown: go, onpointermove: go });
    this.canvas.hidden = true;
  }

  draw() {
    const { matrix } = this;
    const { element } = matrix;
    const [inSight, whole] = [[element.clientWidth, element.clientHeight], [matrix.width, matrix.height]];
    this.canvas.hidden = whole[0] <= inSight[0] + 1 && whole[1] <= inSight[1] + 1;
    if (this.canvas.hidden) return;
    const [columns, rows] = [matrix.labels.source.length, matrix.labels.output.length];
    const width = Math.max(40, Math.min(inSight[0], 2 * columns, 420));
    const height = clamp(Math.round((width * rows) / columns), 12, 120);
    const context = fit(this.canvas, width, height);
    context.imageSmoothingEnabled = columns > width;
    context.drawImage(matrix.heat, 0, 0, width, height);
    const [x, y] = [width / (matrix.cell * columns), height / (matrix.cell * rows)];
    context.strokeStyle = style("--mark");
    context.lineWidth = 2;
    const frame = [element.scrollLeft * x, element.scrollTop * y, Math.min(width, (inSight[0] - matrix.left) * x), Math.min(height, (inSight[1] - matrix.top) * y)];
    context.strokeRect(frame[0] + 1, frame[1] + 1, Math.max(2, frame[2] - 2), Math.max(2, frame[3] - 2));
    this.frame = frame;
  }

  /** Brings the place under the pointer to the middle of what is in sight. */
  go(event) {
    event.preventDefault();
    const { matrix } = this;
    const box = this.canvas.getBoundingClientRect();
    const part = (at, start, length) => (at - start) / length;
    const [columns, rows] = [matrix.labels.source.length, matrix.labels.output.length];
    matrix.element.scrollLeft = part(event.clientX, box.left, box.width) * matrix.cell * columns - (matrix.element.clientWidth - matrix.left) / 2;
    matrix.element.scrollTop = part(event.clientY, box.top, box.height) * matrix.cell * rows - (matrix.element.clientHeight - matrix.top) / 2;
  }
}
