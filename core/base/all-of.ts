// A type with all the properties of every member of a union.

export type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (each: infer Each) => void ? Each : never;
