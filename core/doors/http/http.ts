// The interface of the HTTP module: the loopback server, the client of a running instance, and the code that makes an instance
// discoverable.

export {
  createHttpDoor,
  type DoorChecks,
  type HttpDoor,
  type HttpDoorOptions,
  type SocketListening,
  type UrlListening,
} from './http-door.ts';
export { HttpClaw, type ServerAddress } from './http-client.ts';
export { InstanceDoor, socketPathFor, type InstanceDoorOptions } from './instance-door.ts';
export { findInstance, type RunningInstance } from './find-instance.ts';
export { FramedPages, framedPaths } from './framed-page.ts';
export { contentPolicy } from './reply.ts';
