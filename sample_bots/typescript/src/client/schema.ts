/** The schema, read from the .proto files that the build has put beside the compiled code. */

import { loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { fileURLToPath } from "node:url";

import type { ProtoGrpcType } from "../generated/play.js";

const folder = fileURLToPath(new URL("../proto", import.meta.url));
const definition = loadSync("rummy/referee/v1/play.proto", {
  includeDirs: [folder],
  longs: String, // a 64-bit number is more than a number here can hold
  defaults: true,
  oneofs: true,
});

/** The service and the messages of rummy.referee.v1. */
export const schema = (loadPackageDefinition(definition) as unknown as ProtoGrpcType).rummy.referee
  .v1;
