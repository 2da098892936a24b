// Schedules, the heartbeat and the task list: what starts by itself, and when.

export { Agenda } from './agenda.ts';
export { Clockwork } from './clockwork.ts';
export { Deliveries, type Notice } from './deliveries.ts';
export { DueTimes } from './due-times.ts';
export { Heartbeat } from './heartbeat.ts';
export { readHeartbeatFile } from './heartbeat-file.ts';
export { ScheduleBook, scheduleMigrations, type KeptSchedule } from './schedule-rows.ts';
export { Schedules, type ScheduleWish, type Origin, type SchedulesDeps } from './schedules.ts';
