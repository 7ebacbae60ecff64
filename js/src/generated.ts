export type ActivationName = 'linear';
export type LossName = 'softmaxCrossEntropy';
export type InitializerName = 'zeros';
export type ActivationConfig = { name: 'linear' };
export type OptimizerConfig = { name: 'sgd'; learningRate?: number };
export type InitializerConfig = { name: 'zeros' };
export interface TrainFactory { sgd(learningRate?: number): OptimizerConfig; }
export interface InitializerFactory { zeros(): InitializerConfig; }
export const initializerNames = ['zeros'] as const;
export const optimizerParameters = { sgd: ['learningRate'] } as const;
