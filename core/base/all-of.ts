// A type that has everything the members of a union have.

export type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (each: infer Each) => void ? Each : never;
