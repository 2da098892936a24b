// The view of a turn's spans: the OTLP JSON itself, ready for another tool.

import type { ViewsOf } from '../kernel/view.ts';

export const telemetryViews: ViewsOf<'telemetry'> = {
  'telemetry.export': { show: (traces) => JSON.stringify(traces, null, 2) },
};
